# SPDX-License-Identifier: MIT
# Threads that work for random times, one after the other. Notes for each how long it did by its process's clock, and when its turns
# began and ended.
#
#	mn.rb SECONDS
SECONDS = Float(ARGV[0])
def clock
  Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
end

# Each turn of a thread is on a line of its own: so a recording shows when rcore has seen nothing between two turns.
LINES = 64
LINES.times { |line| eval(<<~RUBY, binding, __FILE__, 1000 * line) }
  def work#{line}(seconds)
    from = clock
    x = 0
    x += 1 while x & 255 != 0 || clock - from < seconds
    clock - from
  end
RUBY

turn, finished = Queue.new, Queue.new
notes, edges = Hash.new(0.0), Hash.new { |all, name| all[name] = [] }
File.write("pid", $$.to_s)
File.write("counter", "1")
sleep 0.01 until File.exist?("go")
threads = Array.new(4) do |number|
  Thread.new do
    Thread.current.name = "worker#{number}"
    while turn.pop
      edges["worker#{number}"] << Process.clock_gettime(Process::CLOCK_REALTIME)
      notes["worker#{number}"] += send("work#{edges["worker#{number}"].size / 2 % LINES}", 0.005 + rand * 0.02 * (number + 1))
      edges["worker#{number}"] << Process.clock_gettime(Process::CLOCK_REALTIME)
      clock < SECONDS ? turn << clock : finished << clock
      Thread.pass
    end
  end
end
turn << clock
# Nothing else works meanwhile, because the process's clock counts all of its threads.
finished.pop
sleep 0.01 until turn.num_waiting == threads.size
File.write("notes", notes.map { |name, time| "#{name} #{time} #{edges[name].join(" ")}" }.join("\n"))
File.write("done", "1")
sleep
