# SPDX-License-Identifier: MIT
# Threads that wait in a block of Timeout.timeout, or in one of another method of that name. The file "truth" has the limit of
# each thread: [method, seconds], or null. Limits are so long that none ends.
require "json"
require "socket"
if ARGV[0] == "own"
  # A program that does not load the library may have a class of that name.
  class Timeout
    def self.timeout(sec, _times = nil)
      yield(sec)
    end
  end
elsif ARGV[0] == "gem"
  $LOAD_PATH.unshift(*Dir["/var/lib/rcore-gems/gems/timeout-0.6*/lib"])
end
require "timeout" unless ARGV[0] == "own"
require_relative "counting"

TRUTH = {}
REALLY = ARGV[0] != "own"
READ, WRITE = IO.pipe

def thread(name, limit)
  TRUTH[name] = REALLY && limit ? ["Timeout.timeout", limit.inspect] : nil
  Thread.new do
    Thread.current.name = name
    yield
  end
end

def limited(name, limit = 90_000 + TRUTH.size, &block)
  thread(name, limit) { Timeout.timeout(limit, &block) }
end

module Mine
  class Timeout
    def self.timeout(sec)
      yield(sec)
    end
  end
end

# Like the class of Active Support.
module ActiveSupport
  class Duration
    def initialize(value)
      @value = value
    end

    def zero?
      false
    end

    def coerce(other)
      [other, @value]
    end

    def inspect
      @value.inspect
    end

    # Kernel#sleep of Ruby 2.7 refuses objects without it.
    def divmod(other)
      @value.divmod(other)
    end

    def <(other)
      @value < other
    end
  end
end

# Like the module of RubyGems. A program may pass anything to it, but rcore must only report numbers.
module Gem
  module Timeout
    def self.timeout(sec, klass = nil, message = nil)
      yield(sec)
    end
  end
end

class Nanoseconds
end

def odd(name, limit)
  TRUTH[name] = ["Gem::Timeout.timeout", nil]
  Thread.new do
    Thread.current.name = name
    Gem::Timeout.timeout(limit) { sleep }
  end
end

class Includes
  include ::Timeout if REALLY

  def wait
    REALLY ? timeout(91_000) { sleep } : sleep
  end
end

HELD = Mutex.new
holder = thread("holder", nil) { HELD.synchronize { sleep } }
Thread.pass until HELD.locked?
endless = thread("endless", nil) { sleep }

threads = [
  holder, endless,
  limited("sleep") { sleep },
  limited("sleep with a time") { sleep 95_000 },
  limited("pop") { Queue.new.pop },
  limited("push") { (SizedQueue.new(1) << 1) << 2 },
  limited("lock") { HELD.synchronize {} },
  limited("condition") { Mutex.new.tap { |own| own.synchronize { ConditionVariable.new.wait(own) } } },
  limited("join") { endless.join },
  limited("join with a time") { endless.join(95_001) },
  limited("read") { READ.read(1) },
  limited("select") { IO.select([READ]) },
  limited("child") { Process::wait(spawn("sleep", "4321")) },
  limited("stop") { Thread.stop },
  limited("float", 90_000.5) { sleep },
  limited("rational", Rational(180_001, 2)) { sleep },
  limited("duration", ActiveSupport::Duration.new(93_000)) { sleep },
  limited("none", nil) { sleep },
  limited("class") { sleep },
  thread("zero", nil) { Timeout.timeout(0) { sleep } },
  thread("the least of two", 92_000) { Timeout.timeout(92_000) { Timeout.timeout(92_001) { sleep } } },
  thread("the least of two, inside", 92_000) { Timeout.timeout(92_001) { Timeout.timeout(92_000) { sleep } } },
  thread("with a class", 92_002) { Timeout.timeout(92_002, ArgumentError) { sleep } },
  thread("over", nil) { Timeout.timeout(92_003) { 1 } && sleep },
  thread("included", 91_000) { Includes.new.wait },
  thread("in a fiber", 92_004) { Timeout.timeout(92_004) { Fiber.new { sleep }.resume } },
  thread("deep", 92_005) { Timeout.timeout(92_005) { 100.downto(0).inject(-> { sleep }) { |below, _| -> { [1].each { below.call } } }.call } },
  odd("named like a number", Nanoseconds),
  odd("a complex number", Complex(1, 2)),
  odd("a text", "5"),
  thread("mine", nil) { Mine::Timeout.timeout(92_006) { sleep } },
]

# One pair would wait forever without its limit. The other pair has no limit, and does.
def pair(name, limit)
  locks = Array.new(2) { Mutex.new }
  have = Queue.new
  Array.new(2) do |i|
    within = i == 1 ? limit : nil
    thread("#{name} #{i}", within) do
      locks[i].synchronize do
        have << i
        sleep 0.01 until have.size == 2
        within ? Timeout.timeout(within) { locks[1 - i].lock } : locks[1 - i].lock
      end
    end
  end
end
threads += pair("ends", 94_000) + pair("is stuck", nil)

# A thread also stops for a moment before it reaches its wait.
quiet = 0
until quiet == 20
  sleep 0.01
  quiet = threads.all?(&:stop?) ? quiet + 1 : 0
end
File.write("truth", JSON.generate(TRUTH))
File.write("pid", $$.to_s)
count_forever
