# SPDX-License-Identifier: MIT
#
# Threads that sleep, and one that works.
require_relative "counting"

Array.new(8) { |i| Thread.new { Thread.current.name = "sleeper#{i}"; sleep } }
File.write("pid", Process.pid)
count_forever(every: 0)
