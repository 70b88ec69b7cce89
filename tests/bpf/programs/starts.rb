# SPDX-License-Identifier: MIT
#
#	starts.rb COUNT
#
# Starts threads that live at the same time, so that none gets the kernel thread of another, and processes. Prints its process id,
# begins when it reads a line, and writes truth.json: {"started" => how many}.
require "json"

count = Integer(ARGV[0])
$stdout.puts $$
$stdout.flush
$stdin.gets
gate = Queue.new
threads = Array.new(count) { Thread.new { gate.pop } }
count.times { gate << true }
threads.each(&:join)
processes = count / 4
processes.times { system("true") or abort "true: #{$?}" }
File.write("truth.json", JSON.generate("started" => count + processes))
