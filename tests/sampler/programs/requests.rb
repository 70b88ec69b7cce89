# SPDX-License-Identifier: MIT
# Threads and fibers that serve requests without a framework. The path of a request names the method that serves it.

# Like a Rack middleware.
class Layer
  PARTS = 4
  PARTS.times do |number|
    class_eval "def part_#{number}; work(#{number}); end; def parked_#{number}; Fiber.yield; end"
  end

  def initialize(inner)
    @inner = inner
  end

  def call(env)
    @inner ? @inner.call(env) : public_send(env["PATH_INFO"].delete_prefix("/"))
  end

  private

  def work(number)
    finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 0.002 * (1 + number)
    "#{number}" * 100 while Process.clock_gettime(Process::CLOCK_MONOTONIC) < finish
    sleep 0.002
  end
end

# Applications whose `call` changes a local variable all the time.
COUNTERS = Array.new(Layer::PARTS) do |number|
  counter = Class.new do
    def call(env)
      count = 0
      finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 0.02
      count += 1 while Process.clock_gettime(Process::CLOCK_MONOTONIC) < finish
      count
    end
  end
  Object.const_set("Counter_#{number}", counter).new
end

APP = Layer.new(Layer.new(nil))

def serve(path, id, app = APP)
  env = Array.new(20) { |number| ["HTTP_X_#{number}", number.to_s] }.to_h
  app.call(env.merge("REQUEST_METHOD" => "GET", "PATH_INFO" => path, "HTTP_X_REQUEST_ID" => id))
end

FIBERS = Array.new(Layer::PARTS) { |number| Fiber.new { serve("/parked_#{number}", "parked-#{number}") }.tap(&:resume) }

3.times do |number|
  Thread.new do
    Thread.current.name = "server_#{number}"
    random = Random.new(number)
    (0..).each { |serial| serve("/part_#{random.rand(Layer::PARTS)}", "server_#{number}-#{serial}") }
  end
end

Thread.new do
  Thread.current.name = "counting"
  random = Random.new(3)
  (0..).each do |serial|
    number = random.rand(Layer::PARTS)
    serve("/count_#{number}", "counting-#{serial}", COUNTERS[number])
  end
end

File.write("pid", $$.to_s)
File.write("counter", "1")
sleep
