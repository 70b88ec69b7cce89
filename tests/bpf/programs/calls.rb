# SPDX-License-Identifier: MIT
#
#	calls.rb SEED COUNT THREADS [plain]
#
# Calls itself in every way, at random. At some moments it notes its own backtrace and the context that it has applied, and writes
# the number of the note to file descriptor 99 at once. Prints its process id, begins when it reads a line, and writes truth.json.
# With `plain`, there are no fibers but the threads' own, and no exceptions: with M:N threads, both crash Ruby 3.4.11
# on a busy machine.
require "json"
require_relative "state"

MARKED = IO.for_fd(99, "w", autoclose: false)
LOCK = Thread::Mutex.new
TRUTH = []
LONG = "a rather long request_id, which no slot holds by itself".freeze

class Walk
  KINDS = (%i[direct block mapped defined sent missing ensured rescued evaluated called times fiber enumerator context] - (ARGV[3] ? %i[fiber enumerator rescued] : [])).freeze

  def initialize(seed, left)
    @random, @left = Random.new(seed), left
  end

  def run
    apply
    step(@random.rand(12)) while @left.positive?
  end

  def step(depth)
    return mark if depth <= 0
    mark if @random.rand(8).zero?
    send(KINDS[@random.rand(KINDS.size)], depth - 1)
  end

  # Without the class, which Ruby 3.4 adds.
  def mark
    labels = caller_locations(0).map { |place| place.label.sub(/(\A| in )(?:[A-Z]\w*(?:::)?)+[.#]/, '\1') }
    context = Fiber.current.instance_variable_get(:@own)
    number = LOCK.synchronize { TRUTH << [context, labels] and TRUTH.size - 1 }
    @left -= 1
    MARKED.syswrite(number.to_s.ljust(16))
  end

  # What is applied is noted before and after; in between, the table has either.
  def apply
    id = case @random.rand(6)
         when 0 then "r#{@random.rand(1000)}"
         when 1 then "#{LONG} #{@random.rand(1000)}"
         when 2 then LONG[2..-1]
         when 3 then @random.rand(1000)
         when 4 then nil
         else "request #{@random.rand(10**9)}"
         end
    others = %i[tenant a_key another_key user trace].first(@random.rand(6)).to_h { |key| [key, key.to_s] }
    others = others.to_a.shuffle(random: @random).to_h
    Ruby::Profiler::State.new(**others, **(id.nil? ? { no_id: true } : { request_id: id })).apply!
    Fiber.current.instance_variable_set(:@own, id.is_a?(String) ? id : nil)
  end

  def direct(depth)
    step(depth)
  end

  def block(depth)
    [1].each { step(depth) }
  end

  def mapped(depth)
    { 1 => 2 }.map { |_, _| step(depth) }
  end

  define_method(:defined) { |depth| step(depth) }

  def sent(depth)
    public_send(:step, depth)
  end

  def missing(depth)
    no_such_method(depth)
  end

  def method_missing(_name, depth)
    step(depth)
  end

  def ensured(depth)
    1.then { 2 }
  ensure
    step(depth)
  end

  def rescued(depth)
    raise "x"
  rescue RuntimeError
    step(depth)
  end

  def evaluated(depth)
    instance_exec(depth) { |left| step(left) }
  end

  def called(depth)
    method(:step).to_proc.call(depth)
  end

  def times(depth)
    1.times { step(depth) }
  end

  def fiber(depth)
    Fiber.new { apply if @random.rand(2).zero?; step(depth); Fiber.yield; step(0) }.tap(&:resume).resume
  end

  def enumerator(depth)
    Enumerator.new { |out| step(depth); out << 1 }.next
  end

  def context(depth)
    apply
    step(depth)
  end
end

seed, count, threads = ARGV.first(3).map(&:to_i)
Walk.new(seed, 0).apply
$stdout.puts $$
$stdout.flush
$stdin.gets
Array.new(threads - 1) { |i| Thread.new { Walk.new(seed + i, count / threads).run } }.tap { Walk.new(seed - 1, count / threads).run }.each(&:join)
File.write("truth.json", JSON.generate(TRUTH))
