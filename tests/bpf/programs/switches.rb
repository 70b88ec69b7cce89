# SPDX-License-Identifier: MIT
#
#	switches.rb SEED THREADS
#
# Works in methods whose names say which context is applied meanwhile: in fibers that switch all the time, of several threads.
# All values are new Strings, so the garbage collector reuses their addresses. Says its process id, ends when it is told to,
# and leaves in truth.json what the context of each method is.
require "fiber"
require "json"
begin
  require "ruby/profiler"
rescue LoadError
  require_relative "ext/profiler_state"
end

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
        # It comes back with the same one.
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
