# SPDX-License-Identifier: MIT
require_relative "../marker"

# Threads that begin, wait for each other, and end; also with fibers of their own.
def work(input, output)
  while (item = input.pop)
    output << Fiber.new { item + 1 }.resume
  end
end

def round
  input = Queue.new
  output = Queue.new
  worker = Thread.new { work(input, output) }
  3.times { |item| input << item }
  output.pop
  input << nil
  worker.join
  lock = Mutex.new
  others = Array.new(2) do |number|
    Thread.new do
      lock.synchronize { Thread.pass }
      number
    end
  end
  others.map(&:value)
  failing = Thread.new do
    Thread.current.report_on_exception = false
    raise "ended"
  end
  begin
    failing.join
  rescue RuntimeError
    0
  end
  sleeper = Thread.new { sleep }
  Thread.pass
  sleeper.kill
  sleeper.join
end

rounds = 0
while rounds < Steps::ROUNDS
  Steps.mark
  round
  rounds += 1
end
