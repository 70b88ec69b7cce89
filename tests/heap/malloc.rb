# SPDX-License-Identifier: MIT
# A program with C memory of all kinds. It prints what mallinfo2() says, and dies.
require "fiddle"
require "json"
require "openssl"
require "psych"
require "zlib"

# mallinfo() of older releases of glibc has the same fields as ints. The struct is
# returned in memory, whose address x86-64 passes as the first argument.
def find(name)
  [Fiddle::Function.new(Fiddle::Handle::DEFAULT[name], [Fiddle::TYPE_VOIDP], Fiddle::TYPE_VOIDP), name]
rescue Fiddle::DLError
  nil
end

FIELDS = %w[arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost]
info, name = find("mallinfo2") || find("mallinfo")
word, size = name == "mallinfo2" ? ["Q", 8] : ["L", 4]

INFO, WORD, SIZE = info, word, size
BUFFER = Fiddle::Pointer.malloc(FIELDS.size * SIZE)

def mallinfo
  INFO.call(BUFFER)
  FIELDS.zip(BUFFER[0, FIELDS.size * SIZE].unpack("#{WORD}*")).to_h
end

def in_use
  mallinfo.values_at("uordblks", "hblkhd").sum
end

# What objects of a class own is by how much the memory in use grew with them. There
# is one already, so what a library makes once is not of them.
Text, List, Table, Squeeze = [String, Array, Hash, Zlib::Deflate].map { |parent| Class.new(parent) }
MADE = {
  "Squeeze" => [40, -> { Squeeze.new.tap { |stream| stream << "abc" } }],
  "Zlib::Inflate" => [40, -> { Zlib::Inflate.new.tap { |stream| stream << Zlib.deflate("abc" * 100_000)[0, 300] } }],
  "OpenSSL::SSL::SSLContext" => [60, -> { OpenSSL::SSL::SSLContext.new }],
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
  before = in_use
  count.times { |number| kept[number] = make.call }
  GC.start # what it took to make them is gone
  grown = in_use - before
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
puts JSON.generate(mallinfo.merge("grown" => GROWN, "each" => each))
$stdout.flush
Process.kill(:QUIT, $$)
sleep
