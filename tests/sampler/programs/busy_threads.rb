# SPDX-License-Identifier: MIT
# Many threads that all want to run.
File.write("pid", $$.to_s)
Array.new(Integer(ARGV[0])) do
  Thread.new do
    Thread.current.name = "busy"
    x = 0
    x += 1 while true
  end
end
File.write("counter", "1")
sleep
