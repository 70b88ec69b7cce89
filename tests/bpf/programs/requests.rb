# SPDX-License-Identifier: MIT
#
# Runs a block for random requests, in threads and fibers. Prints the process id, begins when it reads a line, and writes
# truth.json: what the block has counted.
require "json"
require_relative "state"

module Requests
  LOCK = Thread::Mutex.new

  # arguments: SEED COUNT THREADS. Calls the block with a request and a Random, COUNT times in all; truth is a Hash.
  def self.run(arguments, truth, &piece)
    seed, count, threads = arguments.map(&:to_i)
    Ruby::Profiler::State.new(request_id: "none").apply!
    $stdout.puts $$
    $stdout.flush
    $stdin.gets
    Array.new(threads) { |i| Thread.new { work(Random.new(seed + i), count / threads, piece) } }.each(&:join)
    # rcore reads the names of methods from the process, a little later than the kernel copies stacks.
    sleep 1
    File.write("truth.json", JSON.generate(truth))
  end

  def self.work(random, count, piece)
    fibers = Array.new(8) do |i|
      request = "request-#{i}-#{random.rand(4)}" + "x" * random.rand(40)
      Fiber.new do
        Ruby::Profiler::State.new(tenant: "acme", request_id: request, number: i).apply!
        loop { piece.call(request, random) and Fiber.yield }
      end
    end
    count.times { fibers.sample(random: random).resume }
  end
end
