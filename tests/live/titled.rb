# SPDX-License-Identifier: MIT
# Has a title that would control a terminal, and counts as long as it runs.
require_relative "counting"

workers = Integer(ENV["WORKERS"] || 0)
Process.setproctitle(workers.zero? ? ENV["TITLE"] || "worker \e[31m 1" : "#{ENV["TITLE"]} master") unless ENV["TITLE"] == "no"
forked = Array.new(workers) do |number|
  reader, writer = IO.pipe
  pid = fork do
    Process.setproctitle("#{ENV["TITLE"]} worker #{number}")
    writer.close
    sleep
  end
  writer.close
  reader.read(0)
  pid
end
at_exit { forked.each { |pid| Process.kill(:KILL, pid) } }
Array.new(3) { Thread.new { sleep } }.each { |thread| thread.name = "waiter" }
File.write("pid", $$.to_s)
count_forever unless ENV["BESIDE"]
# The main thread waits while others work.
Thread.new { loop { nil } }
Thread.new { count_forever }.join
