# SPDX-License-Identifier: MIT
# Becomes another Ruby again and again: a thread that is not the main one
# executes it while others work, once the file execute_LEFT is there.
#
#	executes.rb LEFT
LEFT = Integer(ARGV[0])
File.write("pid", $$.to_s)
File.write("counter", Process.clock_gettime(Process::CLOCK_MONOTONIC_RAW, :millisecond).to_s)
def clock
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end
eval("def left_#{LEFT}(till); nil while clock < till; end")

2.times { Thread.new { send("left_#{LEFT}", Float::INFINITY) } }
Thread.new do
  send("left_#{LEFT}", clock + 0.5) until File.exist?("execute_#{LEFT}")
  exec(File.join(RbConfig::CONFIG["bindir"], RbConfig::CONFIG["ruby_install_name"]), __FILE__, (LEFT - 1).to_s) if LEFT.positive?
end
send("left_#{LEFT}", Float::INFINITY)
