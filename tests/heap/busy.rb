# SPDX-License-Identifier: MIT
# Changes objects of all kinds forever. Its heap must be sound whenever it dies.
#
#	ruby busy.rb SEED
random = Random.new(ARGV[0].to_i)
trap("QUIT", "SYSTEM_DEFAULT")
$stdout.sync = true
Pair = Struct.new(:left, :right)

class Node
  attr_accessor :following, :name, :more
end

$kept = Array.new(20_000) { |number| Node.new.tap { |node| node.name = "node #{number}" } }
$table = {}
$orders = $kept.first(50)
threads = Array.new(3) do |number|
  Thread.new do
    loop do
      node = $kept.sample
      node.following = $kept.sample
      node.more = case rand(8)
                  when 0 then { number => "x" * rand(200), node => [node, "y"] }
                  when 1 then Array.new(rand(50)) { |index| "element #{index}" }
                  when 2 then proc { |value| [value, node, number] }
                  when 3 then Pair.new(node.name.dup, Pair.new(node, "right"))
                  when 4 then node.name[2..].to_sym
                  when 5 then Class.new(Node) { define_method(:"m#{number}") { node } }.new
                  when 6 then Fiber.new { |first| [first, node] }.tap { |fiber| fiber.resume(1) }
                  else node.instance_variable_set(:"@v#{rand(40)}", "value") && [[node.dup]]
                  end
      $table[rand(5000)] = node.more
      "#{node.name} #{rand}".tap { |text| text.instance_variable_set(:@of, node) if rand(5).zero? }
      $kept[rand($kept.size)] = Node.new.tap { |made| made.name = "made #{rand}" }
      node.following.method(:name).unbind
      # shift() makes the Array share its buffer with a root; push() takes it back (rb_ary_cancel_sharing).
      $orders.push(node)
      $orders.shift
      eval("proc { #{rand(10)} + 1 }").call if rand(500).zero?
    end
  end
end
sleep(0.4)
puts "ready"
GC.stress = false
GC.start(full_mark: random.rand(2).zero?, immediate_sweep: false) while random.rand(3).positive?
threads.each(&:join)
