# SPDX-License-Identifier: MIT
#
# Prints its process id and reads a line. Then it starts threads, which only BPF programs read. The values on the VM stack of each end
# 32 bytes after those of the previous one, so some end right before a page that was never used. Writes [name, nanoseconds] to
# truth.json: how long each thread slept.
require "json"

THREADS = 128
NAPS = 4

THREADS.times do |i|
  locals = (0..i * 4).map { |number| "local#{number}" }
  eval("def nap#{i}; #{locals.join(" = ")} = nil; NAPS.times { sleep 0.05 }; sleep 0.05; end", TOPLEVEL_BINDING)
end

def slept(name)
  before = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
  send(name)
  [name, Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) - before]
end

$stdout.puts Process.pid
$stdout.flush
$stdin.gets
threads = Array.new(THREADS) { |i| Thread.new { slept("nap#{i}") } }
File.write("truth.json", JSON.generate(threads.map(&:value)))
