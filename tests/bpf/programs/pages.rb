# SPDX-License-Identifier: MIT
#
# Prints its process id and reads a line. Then it starts threads, which nobody but BPF programs reads, and whose values end in steps
# of 32 bytes: some right before a page of the stack that was never used. Writes [name, nanoseconds] of what each has slept to
# truth.json.
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
