# SPDX-License-Identifier: MIT
# Threads that work for random times, one after the other, and note how long each did by its process's clock.
#
#	mn.rb SECONDS
SECONDS = Float(ARGV[0])
def clock
  Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
end

def work(seconds)
  from = clock
  x = 0
  x += 1 while x & 255 != 0 || clock - from < seconds
  clock - from
end

turn = Queue.new
notes = Hash.new(0.0)
File.write("pid", $$.to_s)
File.write("counter", "1")
sleep 0.01 until File.exist?("go")
threads = Array.new(4) do |number|
  Thread.new do
    Thread.current.name = "worker#{number}"
    while turn.pop
      notes["worker#{number}"] += work(0.005 + rand * 0.02 * (number + 1))
      turn << clock if clock < SECONDS
      Thread.pass
    end
  end
end
turn << clock
sleep 0.01 until clock >= SECONDS && turn.num_waiting == threads.size
File.write("notes", notes.map { |name, time| "#{name} #{time}" }.join("\n"))
File.write("done", "1")
sleep
