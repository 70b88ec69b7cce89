# SPDX-License-Identifier: MIT
# A program with C memory of all kinds. It prints what its allocator says, and dies.
require "fiddle"
require "json"
require "openssl"
require "psych"
require "zlib"

def find(name)
  [Fiddle::Function.new(Fiddle::Handle::DEFAULT[name], [Fiddle::TYPE_VOIDP], Fiddle::TYPE_VOIDP), name]
rescue Fiddle::DLError
  nil
end

# mallinfo() of older releases of glibc has the same fields as ints. The struct is
# returned in memory, whose address x86-64 passes as the first argument.
class Glibc
  FIELDS = %w[arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost]

  def initialize
    @info, name = find("mallinfo2") || find("mallinfo")
    @word, @size = name == "mallinfo2" ? ["Q", 8] : ["L", 4]
    @buffer = Fiddle::Pointer.malloc(FIELDS.size * @size)
  end

  def facts
    @info.call(@buffer)
    FIELDS.zip(@buffer[0, FIELDS.size * @size].unpack("#{@word}*")).to_h
  end

  def in_use
    facts.values_at("uordblks", "hblkhd").sum
  end
end

class Jemalloc
  ALL_ARENAS = 4096

  def initialize
    types = [Fiddle::TYPE_VOIDP] * 4 + [Fiddle::TYPE_SIZE_T]
    @control = Fiddle::Function.new(Fiddle::Handle::DEFAULT["mallctl"], types, Fiddle::TYPE_INT)
    @value, @size, @one = Fiddle::Pointer.malloc(8), Fiddle::Pointer.malloc(8), Fiddle::Pointer.malloc(8)
    @size[0, 8] = [8].pack("Q")
    @one[0, 8] = [1].pack("Q")
  end

  def read(name)
    @control.call(name, @value, @size, nil, 0).zero? or raise name
    @value[0, 8].unpack1("Q")
  end

  def version
    @control.call("version", @value, @size, nil, 0).zero? or raise "version"
    Fiddle::Pointer.new(@value[0, 8].unpack1("Q")).to_s[/\d+\.\d+/]
  end

  # Statistics belong to the last epoch.
  def facts
    @control.call("epoch", nil, nil, @one, 8)
    {"allocated" => read("stats.allocated"), "active" => read("stats.active"),
     "cached" => read("stats.arenas.#{ALL_ARENAS}.tcache_bytes"), "version" => version,
     "large" => read("stats.arenas.#{ALL_ARENAS}.large.allocated")}
  end

  # The caches of other threads do not change meanwhile.
  def in_use
    @control.call("thread.tcache.flush", nil, nil, nil, 0)
    facts["allocated"]
  end
end

ALLOCATOR = ENV["LD_PRELOAD"].to_s.include?("jemalloc") ? Jemalloc.new : Glibc.new

# The objects of a class own as much memory as the memory in use grew by when
# they were made. There is one already, so what a library makes once does not
# belong to them.
Text, List, Table, Squeeze = [String, Array, Hash, Zlib::Deflate].map { |parent| Class.new(parent) }
MADE = {
  "Squeeze" => [40, -> { Squeeze.new.tap { |stream| stream << "abc" } }],
  "Zlib::Inflate" => [40, -> { Zlib::Inflate.new.tap { |stream| stream << Zlib.deflate("abc" * 100_000)[0, 300] } }],
  "OpenSSL::SSL::SSLContext" => [200, -> { OpenSSL::SSL::SSLContext.new }],
  "OpenSSL::PKey::EC" => [60, -> { OpenSSL::PKey::EC.generate("prime256v1") }],
  "Text" => [200, -> { Text.new << "x" * 9_000 }],
  "List" => [100, -> { List.new(5_000, 1) }],
  "Table" => [30, -> { Table.new.tap { |table| 3_000.times { |number| table[number] = number } } }],
}
GROWN = MADE.to_h do |name, (count, make)|
  kept = Array.new(count + 1)
  kept[count] = make.call
  GC.start
  GC.disable
  before = ALLOCATOR.in_use
  count.times { |number| kept[number] = make.call }
  GC.start # what it took to make them is gone
  grown = ALLOCATOR.in_use - before
  GC.enable
  ($made ||= []) << kept
  [name, grown * (count + 1) / count]
end

$kept = []
done = Queue.new
threads = Array.new(6) do |number|
  Thread.new do
    random = Random.new(number)
    3000.times do
      text = "x" * random.rand(1..3000)
      $kept << text if random.rand(3) == 0
    end
    20.times { $kept << Zlib::Deflate.new.tap { |stream| stream << "abc" * 1000 } }
    20.times { $kept << "y" * random.rand(100_000..2_000_000) }
    $kept << Psych.load("{a: [1, 2, {b: c}]}")
    done << number
    # Half of the threads end: their arenas and caches change hands.
    sleep if number.even?
  end
end
threads.size.times { done.pop }
threads.each_with_index { |thread, number| thread.join if number.odd? }
200.times { $kept.delete_at(7) }
GC.start
GC.disable
trap("QUIT", "SYSTEM_DEFAULT")
each = GROWN.to_h { |name, grown| [name, grown / (MADE[name][0] + 1)] }
puts JSON.generate(ALLOCATOR.facts.merge("grown" => GROWN, "each" => each))
$stdout.flush
Process.kill(:QUIT, $$)
sleep
