# SPDX-License-Identifier: MIT
# Has an instance of nearly every struct that a layout describes, in each way to keep it: in its slot and
# outside, with few and with many. Then it dies.
require "fiber"
require "monitor"
require "set"

class Small
  attr_accessor :a

  def initialize
    @a, @b, @c = 1, "two", :three
  end

  def old; end
  alias new_name old
end

def parameters(a, b = 1, *c, d, k: 1, r:, **rest, &block)
  local = [a, b]
  raise "boom #{local}"
rescue => error
  [error, error.backtrace_locations]
end

def keywords(a, k:, **rest, &block); end

define_singleton_method(:by_block) { |x| x }
wide = Object.new
60.times { |i| wide.instance_variable_set("@wide#{i}", i.to_s) }
marked = ["x".dup, [0]].each { |object| object.instance_variable_set(:@mark, "marked") }
many = Struct.new(*("a".."zz").first(90).map(&:to_sym))

KEPT = [
  Small.new, wide, *marked, Class.new(Small).new, Object.new.tap { |object| def object.own; end },
  Rational(3, 4), Rational(-7, 2), Complex(1, 2), Complex(1.5, 2r), 2**70, 3**5000, -(2**65), 1e300, -1e-300,
  Struct.new(:a, :b).new(1, "x"), many.new(*1..90), 1..10, "a".."b",
  /ab+c/i, /(?<x>b)+/x.match("abbbc"), "abc".match(/b/),
  Time.now.tap(&:year), Time.at(0).utc.tap(&:inspect), Time.now,
  [1, 2].each, (1..3).each_slice(2), [1].each + [2], Enumerator.new { |out| out << 1 }, (1..3).lazy.map(&:to_s).select(&:frozen?),
  Encoding::UTF_8, Encoding::BINARY, "dynamic#{rand(1000)} symbol".to_sym,
  1.method(:+), [].method(:push).unbind, method(:keywords), proc { |x| x }, ->(a, b = 2) { a }, :upcase.to_proc,
  "s" * 5000, "in its slot", { a: 1, b: 2 }, (1..40).to_h { |i| [i, i.to_s] }, Set.new([1, 2, 3]), (1..500).to_a, [1, 2],
  *%i[push pop shift first last].map { |name| Array.instance_method(name) },
  parameters(1, 2, r: 1), (begin; [3, 1].sort_by { raise "in C" }; rescue => error; error; end)
]

queue, full, lock, monitor, signal = Queue.new, SizedQueue.new(1), Mutex.new, Monitor.new, ConditionVariable.new
full << 1
monitor.enter
lock.lock
reader, _writer = IO.pipe
THREADS = [
  -> { queue.pop }, -> { full << 2 }, -> { lock.lock }, -> { reader.read }, -> { sleep },
  -> { own = Mutex.new; own.synchronize { signal.wait(own) } },
  -> { Fiber.new { Fiber.new { sleep }.resume }.resume },
].map { |work| Thread.new(&work) }
THREADS << Thread.new { THREADS[4].join }
THREADS[4].name = "sleeper"
THREADS[4][:local] = 1
THREADS[4].instance_variable_set(:@mark, 1)
FIBERS = [Fiber.new { Fiber.yield 1 }, Fiber.new { Fiber.yield 2 }, Fiber.new { 3 }]
FIBERS.first(2).each(&:resume)
"abc" =~ /b/
Thread.pass until THREADS.all? { |thread| thread.status == "sleep" }
sleep 0.1
Process.kill(:ABRT, Process.pid)
sleep
