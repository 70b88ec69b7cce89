# SPDX-License-Identifier: MIT
# Creates a Ractor once the file begin_ractor is there.
$VERBOSE = nil
File.write("pid", $$.to_s)
File.write("counter", Process.clock_gettime(Process::CLOCK_MONOTONIC_RAW, :millisecond).to_s)

def before
  sleep 0.01 until File.exist?("begin_ractor")
end

def after
  100.times { |number| number.to_s }
end

before
Ractor.new { loop { after } }
sleep
