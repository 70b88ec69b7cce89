# SPDX-License-Identifier: MIT
# Random shares of work in Ruby and in a library, and what the thread's own clock says of each; and threads that
# sleep within blocks that code in C calls:
#
#	native.rb SECONDS
require "zlib"
require "json"
BYTES = Random.new.bytes(200_000)
SECONDS = Float(ARGV[0])
CALLS = 10 # between two looks at the clock

def clock
  Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
end

def deflates(share)
  (share * 4).ceil.times { Zlib::Deflate.deflate(BYTES) }
end
def sums_up(share)
  (share * 400).ceil.times { Zlib.crc32(BYTES) }
end
def counts(share)
  x = 0
  limit = (share * 400_000).ceil
  x += 1 while x < limit
end

DOCUMENT = Array.new(200) { |i| { "number" => i, "list" => [i.to_f, "x" * i, nil] } }
TEXT = JSON.generate(DOCUMENT)
def generates(share)
  (share * 20).ceil.times { JSON.generate(DOCUMENT) }
end
def parses(share)
  (share * 20).ceil.times { JSON.parse(TEXT) }
end

SLEEPERS = {
  "sorts" => -> { [3, 1, 2].sort_by { sleep } },
  "maps" => -> { [1].each_slice(1).map { [2].each { sleep } } },
  "pops" => -> { { 1 => 2 }.each { Queue.new.pop } },
  "defines" => -> { Class.new { define_method(:waits) { 1.times { sleep } } }.new.waits },
}.map do |name, work|
  Thread.new do
    Thread.current.name = name
    work.call
  end
end

# Whoever looks finds each of them where it stays.
2.times { sleep 0.05 until SLEEPERS.all?(&:stop?) && sleep(0.05) }
File.write("pid", $$.to_s)
File.write("counter", "1")
sleep 0.01 until File.exist?("go")
random = Random.new
weights = %i[deflates sums_up generates parses counts].to_h { |name| [name, 0.5 + random.rand] }
spent = Hash.new(0.0)
begun = clock
# Beside busy processes, rcore found up to 5 % of the processor time where this one asks for its time, between two methods. So it
# asks rarely.
while clock - begun < SECONDS
  weights.keys.shuffle(random: random).each do |name|
    from = clock
    CALLS.times { send(name, weights[name] * (0.5 + random.rand)) }
    spent[name] += clock - from
  end
end
File.write("notes", spent.map { |name, time| "#{name} #{time}" }.join("\n"))
File.write("done", "1")
sleep
