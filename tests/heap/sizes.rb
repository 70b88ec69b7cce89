# SPDX-License-Identifier: MIT
# Makes objects of types whose C memory only the code of Ruby counts, and objects that are too complex for shapes. It prints
# the address of each and what ObjectSpace.memsize_of says, and dies.
require "monitor"
require "objspace"
require "set"

$kept = {}
def keep(name, *objects)
  ($kept[name] ||= []).concat(objects)
end

keep("Proc", proc { $kept }, lambda(&:size), :upcase.to_proc, method(:puts).to_proc, [].method(:push).to_proc)
keep("Proc of C code", {1 => 2}.to_proc)
keep("Method", method(:puts), 1.method(:+), String.instance_method(:upcase))
keep("Binding", binding, proc { binding }.call)
keep("Mutex", Mutex.new, Mutex.new.tap(&:lock))
keep("Monitor", Monitor.new)
keep("ConditionVariable", ConditionVariable.new)
keep("Queue", Queue.new, Queue.new.tap { |queue| 300.times { |i| queue << i } }, SizedQueue.new(4))
keep("Enumerator", [1].each, Enumerator.new { |y| y << 1 << 2 }.tap(&:next), [1].lazy.map(&:succ), [1].each + [2])
keep("Time", Time.now, Time.at(0).utc, Time.at(2**70, 5), Time.new(2000, 1, 1, 0, 0, 0, "+03:00"))

# Threads and Fibers, with variables of their own and without.
keep("Thread", Thread.current, Thread.new { sleep }, Thread.new { Thread.current[:a] = 1; sleep })
keep("Thread", Thread.new { 20.times { |i| Thread.current[:"key#{i}"] = i }; Fiber.new { sleep }.resume })
keep("Thread that ended", Thread.new { Thread.current[:a] = 1 }.tap(&:join))
keep("Fiber", Fiber.new { 1 }, Fiber.new { Fiber.yield }.tap(&:resume), Fiber.new { 1 }.tap(&:resume))
keep("Fiber", Fiber.new { Thread.current[:mine] = 1; Fiber.yield }.tap(&:resume))
deep = ->(depth) { depth.zero? ? Fiber.yield : [1].each { deep.(depth - 1) } }
keep("Fiber", Fiber.new { deep.(50) }.tap(&:resume))
Thread.pass until (Thread.list - [Thread.current]).all?(&:stop?)

# Objects that have a table of instance variables.
class Various; end
40.times do |i|
  object = Various.new
  (i % 3 * 4 + 1).times { |k| object.instance_variable_set(:"@v#{i}_#{k}", k) }
  keep("object of many shapes", object)
end
class Wide; end
40.times do |i|
  object = Wide.new
  30.times { |k| object.instance_variable_set(:"@w#{i}_#{k}", k) }
  keep("object of many shapes", object)
end
# Up to 3.2, a class or a String never has such a table. From 3.3 on, it does if
# no more shapes can be made.
if RUBY_VERSION >= "3.3"
  7_500.times do |i|
    text = "".dup
    text.instance_variable_set(:"@first#{i}", 1)
    70.times { |k| text.instance_variable_set(:"@next#{k}", 1) }
  end
  4.times do |i|
    klass, text, other = Class.new, "text #{i}".dup, Various.new
    (i * 3 + 1).times { |k| [klass, text, other].each { |object| object.instance_variable_set(:"@late#{i}_#{k}", k) } }
    keep("class without a shape", klass, Module.new.tap { |made| made.instance_variable_set(:@late, 1) })
    keep("String without a shape", text)
    keep("object without a shape", other)
  end
end

GC.start
GC.disable
trap("QUIT", "SYSTEM_DEFAULT")
lines = $kept.flat_map do |name, objects|
  objects.map { |object| [ObjectSpace.dump(object)[/0x\h+/], ObjectSpace.memsize_of(object), name].join(" ") }
end
puts lines, "end"
$stdout.flush
Process.kill(:QUIT, $$)
sleep
