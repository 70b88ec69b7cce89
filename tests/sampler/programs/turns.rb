# SPDX-License-Identifier: MIT
# Runs one thread after the other. Each runs a method of its own, and often has the memory of a thread that has ended.
File.write("pid", $$.to_s)
TURNS = 7
def clock
  Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
end
TURNS.times { |turn| eval("def turn_#{turn}; nil while clock < 0.01; end") }

def run(turn)
  Thread.new { send("turn_#{turn}") }.join
end

(1..).each do |count|
  run(count % TURNS)
  GC.start
  File.write("counter", count.to_s)
end
