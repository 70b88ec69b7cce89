# SPDX-License-Identifier: MIT
# So many threads that wait all the time, each named after the kind of its wait.
LOCK = Mutex.new.tap(&:lock)
SLEEPER = Thread.new { sleep }
WAITS = {
  "pop" => -> { Queue.new.pop },
  "mutex" => -> { LOCK.lock },
  "join" => -> { SLEEPER.join },
  "sleep" => -> { sleep },
}.freeze
threads = Array.new(Integer(ARGV[0])) do |i|
  Thread.new do
    Thread.current.name = WAITS.keys[i % WAITS.size]
    WAITS.fetch(Thread.current.name).call
  end
end
Thread.pass until threads.all? { |thread| thread.status == "sleep" }
File.write("pid", $$.to_s)
File.write("counter", "1")
sleep
