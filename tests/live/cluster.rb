# SPDX-License-Identifier: MIT
# A parent with two Rubies, one other program and a zombie under it.
require_relative "counting"

workers = Array.new(2) { |number| fork { count_forever("worker#{number}", every: 0.001) } }
other = spawn("sleep", "1000")
sleep 0.01 until File.read("/proc/#{other}/comm") == "sleep\n" && workers.each_index.all? { |each| File.exist?("worker#{each}") }
ended = fork { exit! }
sleep 0.01 until File.read("/proc/#{ended}/stat")[/\) (\w)/, 1] == "Z"
File.write("ended", ended.to_s)
File.write("workers", workers.join(" "))
File.write("other", other.to_s)
File.write("pid", $$.to_s)
count_forever(every: 0.001)
