# SPDX-License-Identifier: MIT
# Six threads sleep all the time. Guests are threads that start one after the other, sleep in two places, and end. Notes how long each
# guest was in each place, and since when. The main thread never waits, because rcore would then look at all threads anyway.
#
#	guests.rb COUNT
def clock
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

# This method has so many lines that two ticks nearly always find it in different ones. A recording adds a sample to the one before if
# they are equal, so without these lines it would not show when each tick was.
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
