# SPDX-License-Identifier: MIT
#
#	locked.rb
#
# Four threads sleep, four pop from queues, and two wait in File#flock for a lock that another process takes and releases. Prints its
# process id, ends when it reads a line, and writes truth.json.
PATH = "locked"
File.write(PATH, "")

def nap
  sleep(0.003) until $over
end

def queue
  Queue.new.pop(timeout: 0.003) until $over
end

def lock
  File.open(PATH) { |file| file.flock(File::LOCK_EX) && file.flock(File::LOCK_UN) } until $over
end

reader, writer = IO.pipe
child = fork do
  writer.close
  file = File.open(PATH)
  until reader.wait_readable(0.001)
    file.flock(File::LOCK_EX)
    sleep(0.1)
    file.flock(File::LOCK_UN)
  end
end
reader.close
threads = Array.new(4) { Thread.new { nap } } + Array.new(4) { Thread.new { queue } } + Array.new(2) { Thread.new { lock } }
puts $$
$stdout.flush
$stdin.gets
$over = true
writer.close
threads.each(&:join)
Process.wait(child)
File.write("truth.json", "{}")
