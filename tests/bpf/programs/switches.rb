# SPDX-License-Identifier: MIT
#
#	switches.rb SEED THREADS
#
# Runs methods whose names say which context is applied meanwhile, in fibers of several threads that switch all the time. All
# Strings in the contexts are new, so the garbage collector reuses their addresses. Prints its process id, ends when it reads a
# line, and writes the context of each method to truth.json.
require "json"
require_relative "state"

KINDS = 24
RANDOM = Random.new(Integer(ARGV[0]))
VALUES = Array.new(KINDS) do |number|
  case number % 4
  when 0 then number
  when 1 then "r#{number}"
  when 2 then "request #{number} #{"x" * RANDOM.rand(200)}"
  else "id #{number} #{"y" * RANDOM.rand(20)}"
  end
end
KINDS.times do |number|
  eval("def work_#{number}(count) = count.times { |i| count ^ i }".sub(/ = (.*)/, '; \1; end'))
end

def apply(number)
  value = VALUES[number]
  Ruby::Profiler::State.new(tenant: "t#{number}", request_id: value.is_a?(String) ? value + "" : value).apply!
end

def fiber(random, numbers)
  Fiber.new do
    apply(numbers.first)
    loop do
      numbers.each do |number|
        apply(number)
        # The fiber is resumed with the same context.
        random.rand(3).times { send(:"work_#{number}", random.rand(200)) && Fiber.yield }
        send(:"work_#{number}", random.rand(200))
      end
      Fiber.yield
    end
  end
end

def run(random, numbers)
  fibers = numbers.each_slice(2).map { |some| fiber(random, some) }
  fibers.sample(random: random).resume until $over
end

puts $$
$stdout.flush
count = Integer(ARGV[1])
threads = (0...KINDS).each_slice(KINDS / count).map { |numbers| Thread.new(Random.new(RANDOM.rand(1 << 30))) { |random| run(random, numbers) } }
$stdin.gets
$over = true
threads.each(&:join)
File.write("truth.json", JSON.generate(VALUES.map(&:to_s)))
