# SPDX-License-Identifier: MIT
#
# Threads that go to sleep within blocks that code in C calls, and one that never leaves such a block, once the file "go" exists.
# All of them then stay where they are, and the file "still" exists.
SLEEPERS = {
  "sorts" => -> { [3, 1, 2].sort_by { sleep } },
  "maps" => -> { [1].each_slice(1).map { [2].each { sleep } } },
  "pops" => -> { { 1 => 2 }.each { Queue.new.pop } },
  "defines" => -> { Class.new { define_method(:waits) { 1.times { sleep } } }.new.waits },
  "resumes" => -> { Fiber.new { [1].each { Fiber.new { sleep }.resume } }.resume },
  "enumerates" => -> { Enumerator.new { |out| [1].each { sleep } || out << 1 }.next },
  "deep" => -> { 30.times.inject(-> { sleep }) { |inner, _| -> { [1].each { inner.call } } }.call },
}.freeze

# One of its values looks like the flags of a frame.
def spin
  { 1 => 2 }.each { flags = 0x22220fff >> 1; x = 0; (x += 1; x -= 1) while true }
end

def started
  File.exist?("go")
end

threads = SLEEPERS.map do |name, work|
  Thread.new do
    Thread.current.name = name
    sleep 0.01 until started
    Thread.current.thread_variable_set(:works, true)
    work.call
  end
end
threads << Thread.new do
  Thread.current.name = "spins"
  sleep 0.01 until started
  spin
end
File.write("pid", $$.to_s)
File.write("counter", "1")
sleep 0.01 until threads.all? { |thread| thread.status == "sleep" ? thread.thread_variable_get(:works) : thread.name == "spins" && started }
File.write("still", "1")
sleep
