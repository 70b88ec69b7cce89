# SPDX-License-Identifier: MIT
# Random shares of work, and what the thread's own clock says of each:
#
#	shares.rb SEEDS SECONDS
#
# Each seed has methods of its own, s3_m1, which are called in random order for times around a mean of theirs, each under
# one of three labels. Notes are of methods, of their lines (s3_m1:1002), and of labels (s3_label0).
SEEDS, SECONDS = Integer(ARGV[0]), Float(ARGV[1])
METHODS = 5

def clock
  Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
end

# What a fiber's context says; a Ruby without the gem has none.
begin
  require "ruby/profiler"
  def label(name)
    Ruby::Profiler::State.new(part: name).apply!
  end
rescue LoadError
  def label(name)
  end
end

# Each works on two lines.
SEEDS.times do |seed|
  METHODS.times do |number|
    eval(<<~RUBY, TOPLEVEL_BINDING, __FILE__, 1001)
      def s#{seed}_m#{number}(middle, limit); x = 0
        x += 1 while x & 255 != 0 || clock < middle
        x += 1 while x & 255 != 0 || clock < limit; end
    RUBY
  end
end

# The way to the first context that is seen is long.
label("waits")
File.write("pid", $$.to_s)
File.write("counter", "1")
sleep 0.01 until File.exist?("go")
notes = Hash.new(0.0)
SEEDS.times do |seed|
  random = Random.new
  weights = Array.new(METHODS) { 0.001 + random.rand * 0.01 }
  lines = Array.new(METHODS) { 0.1 + random.rand * 0.8 }
  labels = Array.new(3) { 0.2 + random.rand }
  begun = clock
  while clock - begun < SECONDS
    number = random.rand(METHODS)
    part = number % labels.size
    label("s#{seed}_label#{part}")
    time = weights[number] * (0.5 + random.rand) * labels[part]
    from = clock
    send("s#{seed}_m#{number}", middle = from + time * lines[number], from + time)
    spent = clock - from
    notes["s#{seed}_m#{number}"] += spent
    notes["s#{seed}_m#{number}:1002"] += middle - from
    notes["s#{seed}_m#{number}:1003"] += spent - (middle - from)
    notes["s#{seed}_label#{part}"] += spent if defined?(Ruby::Profiler)
  end
end
File.write("notes", notes.map { |name, time| "#{name} #{time}" }.join("\n"))
File.write("done", "1")
sleep
