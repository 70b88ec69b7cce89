# SPDX-License-Identifier: MIT
#
#	functions.rb SEED COUNT THREADS
#
# Calls functions of zlib for random requests, in threads and fibers, and counts the calls. Prints its process id, begins when it
# reads a line, and writes truth.json: {request => {function => calls}}.
require "json"
require "zlib"
require_relative "state"

LOCK = Thread::Mutex.new
TRUTH = Hash.new { |truth, request| truth[request] = Hash.new(0) }

def piece(request, function)
  LOCK.synchronize { TRUTH[request][function] += 1 }
  Zlib.public_send(function, "x", 0)
end

def work(random, count)
  fibers = Array.new(8) do |i|
    request = "request-#{i}-#{random.rand(4)}" + "x" * random.rand(40)
    Fiber.new do
      Ruby::Profiler::State.new(tenant: "acme", request_id: request, number: i).apply!
      loop { piece(request, %w[crc32 adler32].sample(random: random)) and Fiber.yield }
    end
  end
  count.times { fibers.sample(random: random).resume }
end

seed, count, threads = ARGV.map(&:to_i)
Zlib.crc32("x")
Ruby::Profiler::State.new(request_id: "none").apply!
$stdout.puts $$
$stdout.flush
$stdin.gets
Array.new(threads) { |i| Thread.new { work(Random.new(seed + i), count / threads) } }.each(&:join)
File.write("truth.json", JSON.generate(TRUTH))
