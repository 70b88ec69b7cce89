# SPDX-License-Identifier: MIT
# Plants N orders in a list among garbage, writes what it knows of its heap, and dies.
#
#	ruby leak.rb N GARBAGE
require "json"
require "objspace"

class Order
  def initialize(number)
    @title = "order number #{number} of many, not embedded"
  end
end

class Once
end

class Link
  attr_accessor :following
end

class Ticket
  def initialize(number)
    @number = number
    @state = %i[open sold used][number % 3]
  end
end

Seat = Struct.new(:row, :taken)

module App
  LIST = []
  DEPTH = [[[Object.new]]]
end

def address(object)
  JSON.parse(ObjectSpace.dump(object)).fetch("address")
end

# Nobody else refers to any of these.
def links(count)
  first = last = Link.new
  (count - 1).times { last = last.following = Link.new }
  first
end

def sizes(link)
  sum = 0
  while link
    sum += ObjectSpace.memsize_of(link)
    link = link.following
  end
  sum
end

# The object as rcore describes it. Printing it must not change it.
def ticket(object)
  dump = JSON.parse(ObjectSpace.dump(object))
  {address: dump["address"], bytes: dump["memsize"], old: dump["flags"]["old"] || false, text: object.inspect}
end

# Only this frame refers to `mine`. The lock is also in the frames of the C functions that will unlock it.
def hold
  mine = Object.new
  Thread.current[:borrowed] = Object.new
  $borrowed = address(Thread.current[:borrowed])
  $mine = address(mine)
  relay(Object.new, 3)
  mine
end

# Each frame of this method has the object in a local variable of the same name.
def relay(relayed, times)
  $relayed = address(relayed)
  times.zero? ? $lock.synchronize { sleep } : pass_on(relayed, times - 1)
  relayed
end

def pass_on(passed, times)
  relay(passed, times)
  passed
end

# The numbers of the frames of a method, as rcore counts them.
def frames(thread, method)
  thread.backtrace.each_index.select { |index| thread.backtrace[index] =~ /in [`'](?:\w+#)?#{method}'\z/ }
end

def capture
  captured = Object.new
  $captured = address(captured)
  proc { captured }
end

def park
  Fiber.new do
    inside = Object.new
    $inside = address(inside)
    Fiber.yield
    inside
  end.tap(&:resume)
end

def plant(count)
  count.times { |number| App::LIST << Order.new(number) }
end

def litter(count)
  count.times { |number| Order.new(number) }
end

count, garbage = ARGV.map(&:to_i)
$links = links(300)
$texts = Array.new(200) { |number| "a text that is long enough #{number}" * 3 }
$tickets = Array.new(30) { |number| Ticket.new(number) }
$seats = Array.new(12) { |number| Seat.new(number, number.odd?) }
Label = Struct.new(:text)
$labels = Array.new(300) { Label.new("written again and again, too long to be in the slot" + "!") }
$labels.first(7).each { |label| label.text.force_encoding("BINARY") }
$lists = Array.new(40) { ["x".dup, 1] }
$closure = capture
$parked = park
$lock = Mutex.new
$thread = Thread.new { hold }.tap { |thread| thread.name = "pump \e[1m" }
Thread.pass until $mine && $thread.stop?
plant(count)
# Their number no longer grows.
$once = Array.new(count > 1000 ? 900 : 200) { Once.new }
# Garbage is no longer collected.
GC.start
GC.disable
$young = Ticket.new(30)
litter(garbage)
facts = {
  list: address(App::LIST), deep: address(App::DEPTH[0][0][0]), app: address(App),
  links: sizes($links), texts: address($texts), texts_alone: ObjectSpace.memsize_of($texts), first_text: address($texts[0]),
  every_text: $texts.to_h { |text| [address(text), ObjectSpace.memsize_of(text)] },
  tickets: [*$tickets, $young].map { |object| ticket(object) },
  label: ObjectSpace.memsize_of($labels[0].text), lists: ObjectSpace.memsize_of($lists[0]),
  relayed: $relayed, frames: %w[hold relay pass_on].to_h { |method| [method, frames($thread, method)] }, mine: $mine, borrowed: $borrowed, lock: address($lock), thread: address($thread), captured: $captured, inside: $inside, parked: address($parked),
  taken: $seats.select(&:taken).map { |seat| address(seat) }
}
$stdout.puts JSON.generate(facts)
$stdout.flush
trap("QUIT", "SYSTEM_DEFAULT")
Process.kill(:QUIT, $$)
sleep
