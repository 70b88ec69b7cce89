# SPDX-License-Identifier: MIT
# The main thread has ended, but not the process: it waits for a thread whose `ensure` does not end.
require_relative "counting"

File.write("pid", Process.pid)
Thread.new { begin; sleep; ensure; count_forever; end }.then { |left| sleep 0.01 until left.stop? }
exit
