# SPDX-License-Identifier: MIT
# Damages its heap, as an extension with an error does, writes where, and dies. Three kinds of damage are done by an
# extension that verify compiles (careless.c).
#
#	ruby broken.rb KIND
require "fiddle"
require "json"
require "objspace"

require "./careless" if ARGV[0].include?("extension")

class Holder
  attr_accessor :ref
end

def address(object)
  Fiddle.dlwrap(object)
end

def read(address)
  Fiddle::Pointer.new(address)[0, 8].unpack1("Q")
end

def write(address, word)
  Fiddle::Pointer.new(address)[0, 8] = [word].pack("Q")
end

TYPES = 0x1f
KLASS, ARRAY_PTR = 8, 32

# Each returns the address of the object that has the defect, how it refers, and to what.
BREAKS = {
  # What xfree() of too much, or a mark function that forgets a member, leads to.
  "free slot" => lambda do
    write(address($holder.ref), 0)
    [address($holder), "@ref", address($text)]
  end,
  "barrier" => lambda do
    $young = Object.new
    write(read(address($list) + ARRAY_PTR) + 8 * 7, address($young))
    [address($list), "[7]", address($young)]
  end,
  "barrier of an extension" => lambda do
    $young = Object.new
    Careless.store($list, 7, $young)
    [address($list), "[7]", address($young)]
  end,
  # The collector itself frees the object: the extension writes what it did, and dies.
  "free slot by an extension" => -> { Careless.lose($list, 7) },
  "flags by an extension" => lambda do
    flags = read(address($victim)) & ~TYPES | 0x10
    Careless.overwrite($victim, flags)
    [address($victim), nil, flags]
  end,
  "flags" => lambda do
    flags = read(address($victim)) & ~TYPES | 0x10
    write(address($victim), flags)
    [address($victim), nil, flags]
  end,
  "class" => lambda do
    write(address($victim) + KLASS, address($text))
    [address($victim), nil, address($text)]
  end,
  "wild class" => lambda do
    write(address($victim) + KLASS, 0x4141414141414141)
    [address($victim), nil, 0x4141414141414141]
  end,
}.freeze

$list = Array.new(1000)
$holder = Holder.new
$text = $holder.ref = "a text that is not in the slot" * 10
$victim = Object.new
4.times { GC.start }
GC.disable
object, how, value = BREAKS.fetch(ARGV[0]).call
puts JSON.generate({ object: format("0x%x", object), how: how, value: format("0x%x", value) }.compact)
$stdout.flush
Process.kill(:ABRT, $$)
sleep
