# SPDX-License-Identifier: MIT
#: ext
# Dies of what its first argument names, and says in truth.json what that is: where the fault is, what was tried, what
# lies there. With DEFAULT_SIGNALS the kernel ends it, without Ruby's own handler.
require "json"
require "erb"
require "fiddle"
require_relative "../ext/culprit" # the extension
require_relative "app/worker" # the application

KINDS = {
  "null_write" => -> { tell(address: 0x28, access: "write", place: "NULL + 0x28"); Culprit.write_to(0x28) },
  "null_read" => -> { tell(address: 0x10, access: "read", place: "NULL + 0x10"); Culprit.read_from(0x10) },
  "null_call" => -> { tell(address: 0, access: "execute", place: "NULL"); Culprit.pass { Culprit.jump_to(0) } },
  "vector_write" => -> { tell(address: 0x40, access: "write", place: "NULL + 0x40"); Culprit.copy_to(0x40) },
  "vector_read" => -> { tell(address: 0x48, access: "read", place: "NULL + 0x48"); Culprit.copy_from(0x48) },
  "non_canonical" => -> { tell(address: nil, access: "write", place: "non-canonical"); Culprit.write_to(0x6b6b6b6b6b6b6b6b) },
  "unmapped" => -> { page = Culprit.page(-1); tell(address: page + 8, access: "read", place: "unmapped"); Culprit.read_from(page + 8) },
  "read_only" => -> { page = Culprit.page(1); tell(address: page, access: "write", place: "read-only memory"); Culprit.write_to(page) },
  "no_access" => -> { page = Culprit.page(0); tell(address: page, access: "read", place: "memory without access"); Culprit.read_from(page) },
  "code" => -> { page = Culprit.page(5); tell(address: page + 4, access: "write", place: "code"); Culprit.write_to(page + 4) },
  "data_call" => -> { page = Culprit.page(3); tell(address: page, access: "execute", place: "memory that is not executable"); Culprit.jump_to(page) },
  "divide" => -> { tell(signal: "SIGFPE"); Culprit.divide(0) },
  "illegal" => -> { tell(signal: "SIGILL"); Culprit.illegal },
  "freed_slot" => -> { slot = freed { |free| tell(address: free, access: "read", place: "T_NONE") }; Culprit.lock_object(slot); Culprit.read_from(slot) },
  "live_slot" => -> { slot = Culprit.address_of(KEPT); tell(address: slot, access: "write", place: "T_STRING"); Culprit.lock_object(slot); Culprit.write_to(slot) },
  "freed_object" => -> { slot = freed { |free| tell(address: 0x18, access: "write", object: free, type: "T_NONE") }; Culprit.hold(slot) },
  "moved_slot" => -> { moved },
  "free_twice" => -> { tell(signal: "SIGABRT", abort_message: "invalid pointer"); Culprit.free_twice },
  "assertion" => -> { tell(signal: "SIGABRT", abort_message: "fail_assertion: Assertion `two + two == 5' failed."); Culprit.fail_assertion },
  "bug" => -> { tell(signal: "SIGABRT", bug: "culprit says it was the gardener"); Culprit.bug("it was the gardener") },
  "bug_formatted" => -> { tell(signal: "SIGABRT", bug: "culprit 7 says it was the cook"); Culprit.bug_formatted("it was the cook") },
  "bug_unknown" => -> { tell(signal: "SIGABRT", bug: nil); Culprit.bug_unknown("it was the maid") },
  "bug_of_libffi" => -> { tell(signal: "SIGABRT", bug: "culprit 7 says it was the cat"); Libffi.bug("culprit %d says %s", 7, "it was the cat") },
  "abort" => -> { tell(signal: "SIGABRT"); Culprit.fatal },
  "in_gc" => -> { tell(address: 0x30, access: "write", place: "NULL + 0x30", gc: true); Culprit.crash_in_gc },
  "no_gvl" => -> { tell(address: 0x30, access: "write", place: "NULL + 0x30"); Culprit.crash_without_gvl },
  "outside" => -> { tell(address: 0x30, access: "write", place: "NULL + 0x30"); Culprit.crash_outside(0x30) },
  "killed" => -> { killed(:ABRT) { |sender| tell(signal: "SIGABRT", sender: sender) } },
  "killed_by_fault" => -> { killed(:SEGV) { |sender| tell(signal: "SIGSEGV", sender: sender) } },
  "overflow" => -> { tell(overflow: true); Culprit.default_signals; Culprit.overflow },
  "fiber_overflow" => -> { Culprit.default_signals; Fiber.new { tell(overflow: true, place: "guard page"); Culprit.overflow }.resume },
  "outside_overflow" => -> { tell(overflow: true); Culprit.overflow_outside },
  "no_memory" => -> { no_memory },
  "exception" => -> { at_exit { tell(signal: "SIGABRT", exception: ["KeyError", "key not found: :nobody"]); Culprit.fatal }; {}.fetch(:nobody) },
}.freeze

# Calls rb_bug() as a library for any function does.
module Libffi
  def self.bug(format, number, text)
    types = [Fiddle::TYPE_VOIDP, Fiddle::TYPE_INT, Fiddle::TYPE_VOIDP]
    Fiddle::Function.new(Fiddle::Handle::DEFAULT["rb_bug"], types, Fiddle::TYPE_VOID).call(format, number, text)
  end
end

KEPT = "a string that stays, too long to be embedded in its slot by any Ruby that there is" * 4

def tell(**truth)
  File.write("truth.json", JSON.generate({ signal: "SIGSEGV" }.merge(truth)))
end

# The address of a slot that the GC has freed, on a page that still has others. What it yields to may take it again.
def freed(&block)
  GC.disable
  list = Array.new(2000) { |i| "garbage #{i}" * 20 }
  addresses = Array.new(1000) { Culprit.forgotten(list) }
  GC.enable
  GC.start
  slot = addresses.reverse_each.find { |address| Culprit.type_at(address).zero? } or abort "nothing was freed"
  GC.disable
  block.call(slot)
  Culprit.type_at(slot).zero? ? slot : freed(&block)
end

def moved
  list = Array.new(20_000) { |i| "moving #{i}" * 20 }
  list.each { |each| Culprit.watch(Culprit.address_of(each)) }
  $list = list.each_with_index.select { |_, i| (i % 7).zero? }.map(&:first)
  GC.start
  Culprit.crash_moving
end

# Killed by another process. The call that wakes it is the one that then waits, so the signal always arrives in the same place.
def killed(signal)
  reader, writer = IO.pipe
  full, kept = IO.pipe
  kept.write("x")
  yield(fork do
    reader.read(1)
    Process.kill(signal, Process.ppid)
    exit!(0)
  end)
  IO.copy_stream(full, writer)
end

def no_memory
  tell(signal: "SIGABRT", exception: ["NoMemoryError", "failed to allocate memory"], out_of_memory: true)
  "x" * (1 << 47) # more than there are addresses
rescue NoMemoryError
  Culprit.fatal
end

def wait
  File.write("truth.new", JSON.generate(pid: Process.pid))
  File.rename("truth.new", "truth.json")
  sleep
end

Culprit.default_signals if ENV["DEFAULT_SIGNALS"]
Worker.new(KINDS.fetch(ARGV[0]) { method(:wait) }).run((ENV["DEPTH"] || 3).to_i)
