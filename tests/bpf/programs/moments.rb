# SPDX-License-Identifier: MIT
#
#	moments.rb SEED THREADS
#
# Fibers of several threads switch all the time. Each has a context, which it replaces now and then, and notes when it was in use.
# Prints its process id, and ends when it reads a line. truth.json has, by CLOCK_MONOTONIC in nanoseconds:
#
#	used	the periods in which each context was in use, each from before the change to it until after the next change:
#		{value => [[begin, end] ...]}
#	held	the periods in which a thread, by its name, had some context for sure: {name => [[begin, end] ...]}
require "json"
require_relative "state"

FIBERS = 5
USED = Hash.new { |used, value| used[value] = [] }
HELD = Hash.new { |held, name| held[name] = [] }
LOCK = Thread::Mutex.new

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
end

# A fiber that works each time it is resumed.
class Worker
  def initialize(random, name)
    @random, @name, @count = random, name, 0
    @fiber = Fiber.new { live }
  end

  # Runs the fiber until it yields. Returns two arrays: [value, begin, end] of each context that it had meanwhile, and [begin, end] of
  # each period in which it had one for sure.
  def resume
    @since = now
    @periods, @held = [], []
    @fiber.resume
    @periods << [@value, @since, now]
    [@periods, @held]
  end

  private

  def live
    apply
    loop do
      begun = now
      work
      @held << [begun, now]
      Fiber.yield unless is_replaced = @random.rand(3).zero?
      apply if is_replaced || @random.rand(2).zero?
    end
  end

  def apply
    before = now
    Ruby::Profiler::State.new(tenant: @name, request_id: value = "#{@name}-#{@count += 1}").apply!
    @periods << [@value, @since, now] if @value
    @value, @since = value, before
  end

  def work
    @random.rand(6_000).times { |i| i ^ 1 }
  end
end

def run(random, thread)
  workers = Array.new(FIBERS) { |number| Worker.new(Random.new(random.rand(1 << 30)), "t#{thread}f#{number}") }
  all, all_held = [], []
  until $over
    periods, held = workers.sample(random: random).resume
    all.concat(periods)
    all_held.concat(held)
  end
  LOCK.synchronize do
    all.each { |value, *period| USED[value] << period }
    HELD[Thread.current.name] = all_held
  end
end

random = Random.new(Integer(ARGV[0]))
puts $$
$stdout.flush
threads = Array.new(Integer(ARGV[1])) do |number|
  Thread.new(Random.new(random.rand(1 << 30))) { |own| (Thread.current.name = "worker-#{number}") && run(own, number) }
end
$stdin.gets
$over = true
threads.each(&:join)
File.write("truth.json", JSON.generate(used: USED, held: HELD))
