# SPDX-License-Identifier: MIT
# Has a title that would drive a terminal, and counts that it goes on.
Process.setproctitle(ENV["TITLE"] || "worker \e[31m 1") unless ENV["TITLE"] == "no"
Array.new(3) { Thread.new { sleep } }.each { |thread| thread.name = "waiter" }
File.write("pid", $$.to_s)
File.open("counter", "w") do |file|
  file.sync = true
  (1..).each do |count|
    file.rewind
    file.write(count.to_s)
    sleep 0.01
  end
end
