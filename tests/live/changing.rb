# SPDX-License-Identifier: MIT
# Once there is a file "go", a thread waits for something else, one ends, and one begins.
require "json"
require_relative "counting"

queue = Queue.new
before, after = __LINE__ + 2, __LINE__ + 3
changing = Thread.new do
  sleep
  queue.pop
end
ending = Thread.new { sleep }
Thread.pass until changing.stop? && ending.stop?
File.write("truth", JSON.generate(before: before, after: after))
File.write("pid", $$.to_s)
gone = false
count_forever do
  next if gone || !File.exist?("go")
  gone = true
  changing.wakeup
  ending.kill.join
  Thread.new { sleep }
end
