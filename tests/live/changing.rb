# SPDX-License-Identifier: MIT
# Once there is a file "go", a thread waits for something else, one ends, and one begins.
queue = Queue.new
changing = Thread.new do
  sleep
  queue.pop
end
ending = Thread.new { sleep }
Thread.pass until changing.stop? && ending.stop?
File.write("pid", $$.to_s)
gone = false
File.open("counter", "w") do |file|
  file.sync = true
  (1..).each do |count|
    file.rewind
    file.write(count.to_s)
    sleep 0.01
    next if gone || !File.exist?("go")
    gone = true
    changing.wakeup
    ending.kill.join
    Thread.new { sleep }
  end
end
