# SPDX-License-Identifier: MIT
# Sleeps in a function of the library that its argument holds.
require "fiddle"
require_relative "counting"

File.write("pid", Process.pid)
NAPS = Fiddle::Function.new(Fiddle.dlopen(ARGV[0])["enter"], [], Fiddle::TYPE_INT)
Thread.new { NAPS.call }
count_forever
