# SPDX-License-Identifier: MIT
# Random shares of work, and what the thread's own clock says of each:
#
#	shares.rb SEEDS SECONDS
#
# Each seed has methods of its own, s3_m1, which are called in random order for times around a mean of theirs.
SEEDS, SECONDS = Integer(ARGV[0]), Float(ARGV[1])
METHODS = 5

def clock
  Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
end

SEEDS.times do |seed|
  METHODS.times do |number|
    eval("def s#{seed}_m#{number}(limit); x = 0; x += 1 while x & 255 != 0 || clock < limit; end", TOPLEVEL_BINDING, __FILE__)
  end
end

File.write("pid", $$.to_s)
File.write("counter", "1")
sleep 0.01 until File.exist?("go")
notes = {}
SEEDS.times do |seed|
  random = Random.new
  weights = Array.new(METHODS) { 0.001 + random.rand * 0.01 }
  spent = [0.0] * METHODS
  begun = clock
  while clock - begun < SECONDS
    number = random.rand(METHODS)
    from = clock
    send("s#{seed}_m#{number}", from + weights[number] * (0.5 + random.rand))
    spent[number] += clock - from
  end
  spent.each_with_index { |time, number| notes["s#{seed}_m#{number}"] = time }
end
File.write("notes", notes.map { |name, time| "#{name} #{time}" }.join("\n"))
File.write("done", "1")
sleep
