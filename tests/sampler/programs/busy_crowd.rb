# SPDX-License-Identifier: MIT
# Threads as of a server: they wait for an item, work, wait under a lock, and sleep.
ITEMS = Queue.new
LOCK = Mutex.new

def nest(depth, &block)
  depth.zero? ? block.call : nest(depth - 1, &block)
end

def serve
  random = Random.new
  loop do
    ITEMS.pop
    200.times { |i| i ^ 1 }
    LOCK.synchronize { sleep 0.001 }
    sleep random.rand(0.02)
  end
end

threads = Array.new(Integer(ARGV[0])) { Thread.new { nest(20) { serve } } }
threads << Thread.new { loop { sleep 0.004; 2.times { ITEMS << 1 } if ITEMS.size < 50 } }
File.write("pid", $$.to_s)
File.write("counter", "1")
sleep
