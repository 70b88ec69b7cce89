# SPDX-License-Identifier: MIT
# Has two children. Each of the three processes has its own number of orders. They end when their parent has ended.
class Order
end
alive, parent = IO.pipe
[1_000, 2_000].each do |count|
  done, ready = IO.pipe
  fork do
    parent.close
    $orders = Array.new(count) { Order.new }
    ready.puts
    alive.read
  end
  done.gets
end
$orders = Array.new(3_000) { Order.new }
$stdout.puts "ready"
$stdout.flush
sleep
