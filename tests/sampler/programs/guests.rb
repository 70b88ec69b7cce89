# SPDX-License-Identifier: MIT
# Threads that sleep all the time, and guests that come one after the other, sleep in two places, and go. Notes for each
# guest how long it was in each, and since when. The main thread works all the time: while it waits, rcore looks at all threads anyway.
#
#	guests.rb COUNT
def clock
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

# So many lines that two ticks nearly always find two different ones: so a recording has each tick.
eval("def spin(from, seconds)\n#{"  return if clock - from >= seconds\n" * 200}end", binding, __FILE__, 1000)

# Works for as long as the block says, again and again until that is 0.
def work
  until (seconds = yield).zero?
    from = clock
    spin(from, seconds) while clock - from < seconds
  end
end

def first(seconds)
  sleep seconds
end

def second(seconds)
  sleep seconds
end

def visit(notes)
  name = Thread.current.name
  %i[first second].each do |place|
    from = clock
    begun = Process.clock_gettime(Process::CLOCK_REALTIME)
    send(place, 0.1 + rand * 0.1)
    notes << "#{name}.#{place} #{clock - from} #{begun}"
  end
end

Array.new(6) { |i| Thread.new { Thread.current.name = "resident#{i}"; sleep } }
File.write("pid", $$.to_s)
File.write("counter", "1")
sleep 0.01 until File.exist?("go")
notes = []
Integer(ARGV[0]).times do |number|
  gaps = [0.05 + rand * 0.1, 0]
  work { gaps.shift }
  guest = Thread.new { Thread.current.name = "guest#{number}"; visit(notes) }
  work { guest.alive? ? 0.01 : 0 }
end
File.write("notes", notes.join("\n"))
File.write("done", "1")
sleep
