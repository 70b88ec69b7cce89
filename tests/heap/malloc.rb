# SPDX-License-Identifier: MIT
# A program with C memory of all kinds. It prints what mallinfo2() says, and dies.
require "fiddle"
require "json"
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
buffer = Fiddle::Pointer.malloc(FIELDS.size * size)
info.call(buffer)
puts JSON.generate(FIELDS.zip(buffer[0, FIELDS.size * size].unpack("#{word}*")).to_h)
$stdout.flush
Process.kill(:QUIT, $$)
sleep
