# SPDX-License-Identifier: MIT
# Threads that wait in known ways, and note for how long:
#
#	waits.rb SECONDS SEED
#
# Once the file go is there they begin; in the end their wall times in the waits and beside them, and then
# the file done, are written. The thread's name is the kind of its wait, as rcore calls it.
SECONDS, SEED = Float(ARGV[0]), Integer(ARGV[1])
NOTES = {}

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end
def pause(random)
  sleep(0.01 + random.rand * 0.05)
end

# A partner that lets the thread wait for a while, and then lets it go.
def partner(random, seed = random.rand(1 << 30))
  own = Random.new(seed)
  Thread.new { Thread.current.name = "partner"; loop { yield own } }
end

# What is measured is what is in this method.
def measured
  from = now
  yield
  now - from
end

# Notes what the block says that it took.
def note(name, number)
  Thread.new do
    Thread.current.name = name
    random = Random.new(SEED + number)
    waited = 0.0
    begun = now
    while now - begun < SECONDS
      waited += yield random
      sleep(0.005 + random.rand * 0.02)
    end
    NOTES[name] = [waited, now - begun]
  end
end

def threads
  mutex, queue, sized = Mutex.new, Queue.new, SizedQueue.new(1)
  reader, writer = IO.pipe
  partner(Random.new(SEED)) { |own| mutex.synchronize { pause(own) }; pause(own) }
  partner(Random.new(SEED + 1)) { |own| pause(own); queue << 1 if queue.num_waiting.positive? }
  partner(Random.new(SEED + 2)) { |own| pause(own); writer.write("x") }
  partner(Random.new(SEED + 3)) { |own| pause(own); sized.pop if sized.num_waiting.positive? }
  sized << 1
  [
    note("mutex", 10) { measured { mutex.lock }.tap { mutex.unlock } },
    note("pop", 11) { measured { queue.pop } },
    note("push", 12) { measured { sized << 1 } },
    note("io", 13) { measured { reader.readpartial(100) } },
    note("join", 14) { |random| thread = Thread.new { pause(random) }; measured { thread.join } },
    note("process", 15) { |random| child = spawn("sleep", (0.02 + random.rand * 0.1).to_s); measured { Process.wait(child) } },
  ]
end

File.write("pid", $$.to_s)
File.write("counter", "1")
sleep 0.01 until File.exist?("go")
threads.each(&:join)
File.write("notes", NOTES.map { |name, (waited, all)| "#{name} #{waited} #{all}" }.join("\n"))
File.write("done", "1")
sleep
