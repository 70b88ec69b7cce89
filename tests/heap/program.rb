# SPDX-License-Identifier: MIT
#
# Makes objects of nearly every type, writes what ObjectSpace.dump_all prints to the file that the first argument names,
# and dies. Writes the addresses of the Thread and the Fiber that run to the file of the second argument: their frames
# change after the dump. With a third argument, `plants`, also makes the objects of plants.rb.
require "objspace"
require "set"
class Order; attr_accessor :a,:b,:c; def initialize(i) @a="s#{i}"; @b=[i,@a]; @c={k: @b} end; X=[1,"q"]; @@cv = "cv"; def self.cv; @@cv end end
module Mixin; def mix(x=1, k: "d"); [x,k]; end; end
class Order; include Mixin; prepend(Module.new { def a; super end }); end
S = Struct.new(:x,:y) ; S5 = Struct.new(*(1..30).map{|i| :"m#{i}"})
$keep = []
200.times{|i| o=Order.new(i); o.a; o.mix; Order.cv; $keep << o }
$keep << S.new(1,"two") << S5.new(*(1..30).map(&:to_s)) << (1..50).to_h{|i|["k#{i}","v#{i}"]} << Set.new(%w[a b c]) << Rational(2**70,3) << Complex(2**70,1.5) << "abc".match(/b(c)/) << /x#{1}y/ << 2**200 << proc{|x| $keep} << method(:puts) << binding << "x".dup.tap{|s| s.instance_variable_set(:@iv, "gen")} << Object.new.tap{|o| def o.sing; end } << [1,2,3].each << Time.now << Mutex.new << Queue.new.tap{|q|q<<"in queue"} << :"dyn#{1}" << Enumerator.new{|y| y << "z"} << Fiber.new{ Fiber.yield "f" }.tap(&:resume) << ("big"*100) << ("big"*100)[10..200] << (1..100).to_a << (1..100).to_a.tap{|a| $sub=a[5,50]} << Thread.new{sleep}.tap{|t|t[:loc]="tl"}
many=Class.new{ def initialize(n) n.times{|i| instance_variable_set("@v#{i}", "i#{i}")} end }
$keep << many.new(20) << many.new(300)
eval("def ev; /a#{'b'}c/o; end; ev; 3.times { ev }")
at_exit { }
require "fiber"
if ARGV[2] == "plants"
  require_relative "plants"
  Plants.plant
end
# What an extension registers with rb_set_end_proc() need not be a Proc. The newest is first in the list.
require "fiddle"
register = Fiddle::Function.new(Fiddle::Handle::DEFAULT["rb_set_end_proc"], [Fiddle::TYPE_VOIDP] * 2, Fiddle::TYPE_VOID)
[Object.new, nil].each { |object| register.call(Fiddle::Handle::DEFAULT["rb_p"], Fiddle.dlwrap(object)) }
# No other thread may run during the dump.
Thread.pass until (Thread.list - [Thread.current]).all?(&:stop?)
out=File.open(ARGV[0],"w")
File.write(ARGV[1], [Thread.current, Fiber.current].map { |o| ObjectSpace.dump(o)[/0x\h+/] }.join("\n"))
(Process.setrlimit(Process::RLIMIT_CORE, -1) rescue nil)
# 2.7 leaves the end of the dump in a buffer. After the dump, nothing may be allocated.
buffers = RUBY_VERSION < "3"
dump=->(o,signal){ ObjectSpace.dump_all(output: o); o.close if buffers; Process.kill(signal, $$) }
# Only old objects stay marked after a sweep.
4.times { GC.start }
GC.disable
# Fills the caches of every call below, so that the last one changes nothing.
dump.(File.open("/dev/null","w"), 0)
dump.(out, :ABRT)
sleep
