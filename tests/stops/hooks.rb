# SPDX-License-Identifier: MIT
# What TracePoint calls for each event while methods of each kind run: a program
# that is stopped at random (programs.rb). A hook runs between the push of a
# frame and its first instruction, or before its pop.

EVENTS = %i[line class end call return c_call c_return raise b_call b_return thread_begin thread_end fiber_switch script_compiled].freeze
MAY_RAISE = %i[line call b_call].freeze # others come while Ruby raises, and it dies of an exception in them
EVENTS_SINCE = { "3.3" => %i[rescue] }.freeze

class Called
  attr_accessor :value
  define_method(:block) { |x| x.to_s }
  define_method(:with_block) { |x, &block| block.call(x) }
  define_method(:of_lambda, &->(x) { [x].each { |y| y }; x })
  define_method(:of_method, Kernel.instance_method(:itself))
  def plain(x) x + 1 end
  def yields(x) yield(x) end
  def optional(x, y = plain(x), *rest, key: y) [x, y, rest, key] end
  def each(&block) [3, 1, 2].each(&block) end
  include Enumerable
  def raises; raise "here"; rescue RuntimeError => e; e.message; ensure plain(1); end
  def throws; catch(:tag) { [1].each { throw :tag, 2 } }; end
  def returns; [1, 2].each { |x| return x if x == 2 }; end
  def method_missing(name, *rest) name == :missing ? rest.size : super end
  def respond_to_missing?(*) true end
end

module Around
  def plain(x) super + 1 end
end
Called.prepend(Around)

def work(object)
  object.block(1); object.with_block(2) { |x| x }; object.of_lambda(3); object.of_method
  object.yields(4) { |x| object.block(x) }
  object.optional(1); object.optional(1, 2, 3, key: 4)
  object.map { |x| object.plain(x) }; object.sort_by { |x| -x }; object.min
  object.raises; object.throws; object.returns; object.missing(1)
  object.value = object.then { |same| same.class }
  object.instance_eval { plain(1) }
  Class.new { def self.inherited(other) super end; attr_reader :a }.then { |c| Class.new(c) }
  eval("object.plain(object.block(3).to_i)", binding, "evaluated.rb")
  f = Fiber.new { |x| Fiber.yield(object.block(x)); object.plain(1) }
  f.resume(1); f.resume(2)
  Thread.new { object.block(5) }.value if rand(10).zero?
end

# What hooks run: Ruby code, C functions, blocks, an exception of their own.
def hooked(point)
  [point.event, point.path].each { |each| each.to_s.size }
  point.lineno.to_i.times.first(2)
  Integer("none") if point.lineno.to_i % 7 == 0 && MAY_RAISE.include?(point.event)
rescue ArgumentError
  point.method_id.to_s
end

Thread.report_on_exception = false
object = Called.new
targets = %i[block with_block of_lambda plain raises].map { |name| object.method(name) }
events = EVENTS + EVENTS_SINCE.select { |since, _| Gem::Version.new(RUBY_VERSION) >= Gem::Version.new(since) }.values.flatten
events.select! { |event| TracePoint.new(event) { nil } rescue false }
loop do
  case rand(5)
  when 0 then TracePoint.new(*events) { |point| hooked(point) }.enable { work(object) }
  when 1 then TracePoint.new(*events.sample(2)) { |point| hooked(point) }.enable { work(object) }
  when 2 then TracePoint.new(:call, :return, :line) { |point| hooked(point) }.enable(target: targets.sample) { work(object) }
  when 3
    set_trace_func(proc { |event, file, line, *| [event, file].each(&:to_s) if line })
    work(object)
    set_trace_func(nil)
  else
    # A hook that leaves the method in which it was called.
    begin
      TracePoint.new(*MAY_RAISE.sample(2)) { |point| raise "left" if rand(20).zero?; hooked(point) }.enable { work(object) }
    rescue RuntimeError
      nil
    end
  end
end
