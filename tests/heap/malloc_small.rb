# SPDX-License-Identifier: MIT
# A small program, for allocators of all kinds. It dies at once.
require "fiddle"
require "zlib"

KEPT = Fiddle.dlopen(ENV["OPENED"]) if ENV["OPENED"]
KEPT["malloc"].then { |address| Fiddle::Function.new(address, [Fiddle::TYPE_SIZE_T], Fiddle::TYPE_VOIDP).call(100) } if ENV["OPENED"]
$kept = Array.new(100) { Zlib::Deflate.new.tap { |stream| stream << "abc" * 1000 } }
trap("QUIT", "SYSTEM_DEFAULT")
$stdout.puts "{}"
$stdout.flush
Process.kill(:QUIT, $$)
sleep
