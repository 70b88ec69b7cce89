# SPDX-License-Identifier: MIT
# A thread that waits in the same innermost frames again and again, called in turn by one of two methods:
#
#	callers.rb SECONDS SEED
#
# Once the file go is there it begins; in the end its wall times in both methods, and then the file done, are
# written.
SECONDS, SEED = Float(ARGV[0]), Integer(ARGV[1])
NOTES = Hash.new(0.0)

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

def pause(seconds)
  sleep seconds
end

def first_caller(seconds)
  pause seconds
end

def second_caller(seconds)
  pause seconds
end

def note(name)
  from = now
  yield
  NOTES[name] += now - from
end

File.write("pid", $$.to_s)
File.write("counter", "1")
sleep 0.01 until File.exist?("go")
random = Random.new(SEED)
begun = now
while now - begun < SECONDS
  note("Object#first_caller") { first_caller(0.02 + random.rand * 0.04) }
  note("Object#second_caller") { second_caller(0.004 + random.rand * 0.006) }
end
File.write("notes", NOTES.map { |name, time| "#{name} #{time}" }.join("\n"))
File.write("done", "1")
sleep
