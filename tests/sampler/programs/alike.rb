# SPDX-License-Identifier: MIT
# A thread, or fibers, that wait in the same frames again and again, each time for another request. Or fibers that end, so that
# others get their memory:
#
#	alike.rb thread|fiber|replaced|assigned
#
# Each request has a path and, if the Ruby has the gem, a context with the same text.

begin
  require "ruby/profiler"
rescue LoadError
  nil
end

class Sleeper
  def call(env)
    sleep 0.003
  end
end

class Parker
  def call(env)
    Fiber.yield
  end
end

COUNTER = File.open("counter", "w")
LOG = File.open("served", "wb")
LOG.sync = true
$served = 0

# Writes when a request began and ended.
def served(begun)
  LOG.write([begun, Process.clock_gettime(Process::CLOCK_REALTIME)].pack("E2"))
  COUNTER.pwrite(($served += 1).to_s, 0)
end

# Its variable is in the heap, because of the Binding, and gets another request.
class Assigner
  def call(env)
    binding
    (0..).each do |serial|
      begun = Process.clock_gettime(Process::CLOCK_REALTIME)
      text = "assigned-#{serial}"
      Ruby::Profiler::State.new(turn: text).apply! if defined?(Ruby::Profiler)
      env = { "REQUEST_METHOD" => "GET", "PATH_INFO" => text }
      sleep 0.003
      served(begun)
    end
  end
end

def serve_one(app, text)
  begun = Process.clock_gettime(Process::CLOCK_REALTIME)
  Ruby::Profiler::State.new(turn: text).apply! if defined?(Ruby::Profiler)
  app.call({ "REQUEST_METHOD" => "GET", "PATH_INFO" => text })
  served(begun)
end

def serve(app, name)
  (0..).each { |serial| serve_one(app, "#{name}-#{serial}") }
end

File.write("pid", $$.to_s)
# What rcore knows of this thread must not depend on others: there is no other.
serve(Sleeper.new, "thread") if ARGV == ["thread"]
Assigner.new.call(nil) if ARGV == ["assigned"]
if ARGV == ["replaced"]
  loop do
    fibers = Array.new(10) { |number| Fiber.new { serve_one(Parker.new, "fiber_#{number}-#{$served}") } }
    fibers.each(&:resume)
    sleep 0.02
    fibers.each(&:resume)
    fibers.clear
    GC.start
    # A Hash at the same address cannot be told from the one before.
    Array.new(rand(1000)) { Object.new }
  end
end
FIBERS = Array.new(10) { |number| Fiber.new { serve(Parker.new, "fiber_#{number}") } }
loop do
  FIBERS.each(&:resume)
  sleep 0.01
end
