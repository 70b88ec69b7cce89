# SPDX-License-Identifier: MIT
#	napping.rb LIBRARY
#
# Sleeps in a function of LIBRARY (naps.c).
require "fiddle"
require_relative "counting"

File.write("pid", Process.pid)
NAPS = Fiddle::Function.new(Fiddle.dlopen(ARGV[0])["enter"], [], Fiddle::TYPE_INT)
Thread.new { NAPS.call }
count_forever
