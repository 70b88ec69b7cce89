# SPDX-License-Identifier: MIT
#
#	overruns.rb KINDS DEPTH CALLS
#
# Two threads of each kind call methods that are so deep, whose names say their kind and depth, with a context of their kind. The
# innermost one makes the system call getppid, which Ruby never makes by itself. Prints its process id. When the file "begin_half"
# exists, each thread makes half of CALLS calls, and then the file "half" exists; the same again with "begin_whole" and "whole".
# truth.json has the number of calls, and how long the process was on a processor, in nanoseconds. Ends when it reads a line.
require "json"
require_relative "state"

KINDS, DEPTH, CALLS = ARGV.map { |word| Integer(word) }
KINDS.times do |kind|
  DEPTH.times { |depth| eval("def kind#{kind}_#{depth}; kind#{kind}_#{depth + 1}; end") }
  eval("def kind#{kind}_#{DEPTH}; Process.ppid; end")
end

def cpu
  Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond)
end

def work
  threads = Array.new(2 * KINDS) do |number|
    Thread.new(number / 2) do |kind|
      Ruby::Profiler::State.new(kind: kind).apply!
      (CALLS / 2).times { send("kind#{kind}_0") }
    end
  end
  threads.each(&:join)
end

puts $$
$stdout.flush
before = cpu
%w[half whole].each do |part|
  sleep 0.01 until File.exist?("begin_#{part}")
  work
  File.write(part, "")
end
File.write("truth.json", JSON.generate("calls" => 2 * KINDS * (CALLS / 2) * 2, "cpu" => cpu - before))
$stdin.gets
