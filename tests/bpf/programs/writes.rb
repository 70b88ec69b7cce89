# SPDX-License-Identifier: MIT
#
#	writes.rb SEED COUNT THREADS
#
# Writes pieces of random sizes for random requests, in threads and fibers, and counts them. Prints its process id, begins when it
# reads a line, and writes truth.json: {request => [calls, bytes]}.
require "json"
require_relative "state"

NULL = File.open("/dev/null", "w")
LOCK = Thread::Mutex.new
TRUTH = Hash.new { |truth, request| truth[request] = [0, 0] }

def piece(request, size)
  LOCK.synchronize do
    TRUTH[request][0] += 1
    TRUTH[request][1] += size
  end
  NULL.syswrite("x" * size)
end

def work(random, count)
  fibers = Array.new(8) do |i|
    request = "request-#{i}-#{random.rand(4)}" + "x" * random.rand(40)
    Fiber.new do
      Ruby::Profiler::State.new(tenant: "acme", request_id: request, number: i).apply!
      loop { piece(request, random.rand(1..5000)) and Fiber.yield }
    end
  end
  count.times { fibers.sample(random: random).resume }
end

seed, count, threads = ARGV.map(&:to_i)
Ruby::Profiler::State.new(request_id: "none").apply!
$stdout.puts $$
$stdout.flush
$stdin.gets
Array.new(threads) { |i| Thread.new { work(Random.new(seed + i), count / threads) } }.each(&:join)
File.write("truth.json", JSON.generate(TRUTH))
