# SPDX-License-Identifier: MIT
# Creates and ends threads and fibers as fast as it can. With the argument
# `compact`, also compacts the heap, if this Ruby can.
File.write("pid", $$.to_s)
count = 0
def deep(depth, &block)
  depth.zero? ? block.call : deep(depth - 1, &block)
end
loop do
  Array.new(20) { |number| Thread.new { deep(number) { Thread.pass } } }.each(&:join)
  200.times { |number| fiber = Fiber.new { deep(number % 9) { Fiber.yield } }; fiber.resume; fiber.resume if number.odd? }
  eval("def made#{count % 100}(n); n.zero? ? 0 : made#{count % 100}(n - 1); end", TOPLEVEL_BINDING, "made#{count}.rb")
  send("made#{count % 100}", 50)
  GC.compact if (count % 50).zero? && GC.respond_to?(:compact) && ARGV[0] == "compact"
  File.write("counter", (count += 1).to_s)
end
