# SPDX-License-Identifier: MIT
#
#	host.rb SEED NUMBER
#
# One of several programs that run at the same time. The names of its methods, and its contexts, have SEED and NUMBER. Prints its process id,
# and warms up until it gets SIGUSR1. Then two threads work for a second or two, and truth.json has how long they were on a processor,
# and how many system calls they made. Ends when it reads a line.
require "json"
require_relative "state"

RANDOM = Random.new(Integer(ARGV[0]))
NUMBER = ARGV.join("_")
NAP = 0.01

eval(<<~METHODS)
  def warm_#{NUMBER}(out)
    out.syswrite("-")
    sleep NAP
    2000.times { |i| i * i }
  end

  def work_#{NUMBER}(out, random, until_then)
    writes = 0
    while now < until_then
      random.rand(3000).times { |i| i ^ 7 }
      random.rand(3).times { writes += out.syswrite("+") }
      sleep random.rand * NAP / 2 if random.rand(4) == 0
    end
    writes
  end
METHODS

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

def cpu
  Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)
end

def apply
  Ruby::Profiler::State.new(tenant: "p#{NUMBER}").apply!
end

out = File.open("/dev/null", "w")
warming = Thread.new { send("warm_#{NUMBER}", out) until $over }
trap(:USR1) { $over = true }
puts $$
$stdout.flush
warming.join
until_then = now + 1 + RANDOM.rand
threads = 2.times.map do
  Thread.new(Random.new(RANDOM.rand(1 << 30))) do |random|
    apply
    before = cpu
    writes = send("work_#{NUMBER}", out, random, until_then)
    [cpu - before, writes]
  end
end
cpus, writes = threads.map(&:value).transpose
File.write("truth", JSON.generate("cpu" => cpus.sum, "writes" => writes.sum))
File.rename("truth", "truth.json")
$stdin.gets
