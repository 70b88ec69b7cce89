# SPDX-License-Identifier: MIT
# Has a title that would control a terminal, and counts as long as it runs.
require_relative "counting"

Process.setproctitle(ENV["TITLE"] || "worker \e[31m 1") unless ENV["TITLE"] == "no"
Array.new(3) { Thread.new { sleep } }.each { |thread| thread.name = "waiter" }
File.write("pid", $$.to_s)
count_forever
