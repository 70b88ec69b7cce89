# SPDX-License-Identifier: MIT
#
# A Rack application whose requests each apply a context of their own, and say so in a mapping that
# another process shares. A slot of it is four words: state, number of the request, Fiber, and
# how many requests the slot has served.
require "ruby/profiler"

class App
  SLOTS = 256
  SLOT_SIZE = 32
  # Methods that say in samples which request they run for.
  KINDS = 64
  FREE, APPLYING, APPLIED, CLEARING = 0, 1, 2, 3

  def initialize(path)
    file = File.open(path, "r+")
    @marks = IO::Buffer.map(file, SLOTS * SLOT_SIZE, 0)
    @free = (0...SLOTS).to_a
    @lock = Thread::Mutex.new
    @count = 0
  end

  def call(env)
    slot, number = @lock.synchronize { [@free.pop, @count += 1] }
    begin
      handle(slot, number, env)
    ensure
      @lock.synchronize { @free.push(slot) }
    end
    [200, { "content-type" => "text/plain" }, ["#{number}\n"]]
  end

  private

  def handle(slot, number, env)
    set(slot, 8, number)
    set(slot, 16, Kernel.instance_method(:to_s).bind_call(Fiber.current)[/0x\h+/].hex)
    set(slot, 0, APPLYING)
    Ruby::Profiler::State.new(request_id: "r#{number}", number: number, path: env["PATH_INFO"],
                                client: env["HTTP_X_REQUEST_ID"], host: env["HTTP_HOST"]).apply!
    set(slot, 0, APPLIED)
    work(number)
    set(slot, 0, CLEARING)
    Ruby::Profiler::State.new.apply!
    set(slot, 0, FREE)
    set(slot, 24, number)
  end

  KINDS.times { |kind| class_eval "def busy_#{kind}; 200.times { |i| i ^ #{kind} }; end" }

  # Waits most of the time, as a request does for its database.
  def work(number)
    10.times do |i|
      sleep 0.002 + (number + i) % 7 * 0.001
      send(:"busy_#{number % KINDS}")
      "#{number}" * 100
    end
  end

  def set(slot, offset, value)
    @marks.set_value(:u64, slot * SLOT_SIZE + offset, value)
  end
end
