# SPDX-License-Identifier: MIT
require "monitor"
require_relative "ext/weave_ext"
require_relative "ext/cold_path"

# Each method gets from Ruby to its block over other code: C functions of the
# extension, C methods of Ruby, instructions that call methods. Everything in Ruby
# that stays on the stack notes itself.
module Steps
  Key = Struct.new(:body) do
    def hash
      Weave.note
      body.call
      1
    end
  end

  class Number
    def initialize(&body)
      @body = body
    end

    def coerce(_)
      Weave.note
      @body.call
    end

    def <=>(_)
      Weave.note
      @body.call
    end
    include Comparable

    def to_s
      Weave.note
      @body.call
    end

    def to_a
      Weave.note
      @body.call
    end

    def to_proc
      Weave.note
      @body.call
    end

    def ===(_)
      Weave.note
      @body.call
    end

    def !
      Weave.note
      @body.call
    end

    def each
      Weave.note
      yield 1
    end
    include Enumerable

    def respond_to_missing?(name, all)
      return false unless name == :never
      Weave.note
      @body.call
    end
  end

  class << self
    def target
      Weave.note
      Thread.current[:body].call
    end

    def funcall(&body)
      Weave.note
      Thread.current[:body] = body
      Weave.funcall(self, :target)
    end

    %w[yield protect ensure ensured rescue2 nogvl qsort synchronize].each do |name|
      class_eval <<-RUBY, __FILE__, __LINE__ + 1
        def #{name}_in_c; Weave.note; Weave.#{name} { Weave.note; yield }; end
      RUBY
    end

    def block_call(&body)
      Weave.note
      Weave.block_call([1], :each, body)
    end

    def block_call_deeper(&body)
      Weave.note
      Weave.block_call(Weave, :iterate, body)
    end

    def block_call_of_ruby(&body)
      Weave.note
      Weave.block_call(Number.new, :each, body)
    end

    def block_call_of_map(&body)
      Weave.note
      Weave.block_call(Number.new, :map, body)
    end

    def proc_new(&body)
      Weave.note
      Weave.proc_new(body)
    end

    def method_in_c
      Weave.note
      Weave::Thing.new.in_c { Weave.note; yield }
    end

    def method_missing_in_c
      Weave.note
      Weave::Thing.new.not_there { Weave.note; yield }
    end

    def define_method_in_c(&body)
      Weave.note
      Weave.define_method_in_c(body)
    end

    def define_method_in_ruby
      Weave.note
      thing = Class.new { define_method(:defined) { |&block| Weave.note; block.call } }.new
      thing.defined { Weave.note; yield }
    end

    def catch_in_c(&body)
      Weave.note
      Weave.catch_in_c(body)
    end

    def instance_exec_in_c
      Weave.note
      Weave.exec(Object.new) { Weave.note; yield }
    end

    def foreach_in_c
      Weave.note
      Weave.hash_foreach({ 1 => 2 }) { Weave.note; yield }
    end

    def array_each
      Weave.note
      [1].each { Weave.note; yield }
    end

    def sort_by
      Weave.note
      [1, 2].sort_by { Weave.note; yield }
    end

    def hash_each
      Weave.note
      { 1 => 2 }.each { |_, _| Weave.note; yield }
    end

    def comparable(&body)
      Weave.note
      Number.new(&body) < Number.new
    end

    def enumerator
      Weave.note
      [1].each_slice(1).with_index.map { Weave.note; yield }
    end

    def lazy
      Weave.note
      [1].lazy.map { Weave.note; yield }.select(&:itself).first
    end

    def inject
      Weave.note
      [1, 2].inject { Weave.note; yield }
    end

    def gsub
      Weave.note
      "a".gsub(/a/) { Weave.note; yield }
    end

    def integer_times
      Weave.note
      1.times { Weave.note; yield }
    end

    def hash_default
      Weave.note
      Hash.new { Weave.note; yield }[1]
    end

    def lookup(&body)
      Weave.note
      { 1 => 1, 2 => 2 }[Key.new(body)]
    end

    def new_hash(&body)
      Weave.note
      { Key.new(body) => 1 }
    end

    def plus(&body)
      Weave.note
      1 + Number.new(&body)
    end

    def float_plus(&body)
      Weave.note
      1.0 + Number.new(&body)
    end

    def maximum(&body)
      Weave.note
      [Number.new(&body), Number.new(&body)].max
    end

    def interpolate(&body)
      Weave.note
      "a#{Number.new(&body)}"
    end

    def splat(&body)
      Weave.note
      [*Number.new(&body)]
    end

    def block_argument(&body)
      Weave.note
      integer_times(&Number.new(&body))
    end

    def check_match(&body)
      Weave.note
      case 1
      when Number.new(&body) then 1
      end
    end

    def check_array(&body)
      Weave.note
      numbers = [Number.new(&body)]
      case 1
      when *numbers then 1
      end
    end

    def negate(&body)
      Weave.note
      !Number.new(&body)
    end

    def ask_defined(&body)
      Weave.note
      number = Number.new(&body)
      defined?(number.never)
    end

    def constant(&body)
      Weave.note
      space = Module.new
      space.define_singleton_method(:const_missing) { |_| Weave.note; body.call }
      space::Missing
    end

    def inherited(&body)
      Weave.note
      base = Class.new
      base.define_singleton_method(:inherited) { |_| Weave.note; body.call }
      Class.new(base)
    end

    def class_body(&body)
      Weave.note
      base = Class.new
      base.define_singleton_method(:method_added) { |_| Weave.note; body.call }
      base.class_eval { Weave.note; def added; end }
    end

    def instance_eval_block
      Weave.note
      Object.new.instance_eval { Weave.note; yield }
    end

    def method_object(&body)
      Weave.note
      Thread.current[:body] = body
      method(:target).to_proc.call
    end

    def cold_early
      Weave.note
      Cold.early(1) { Weave.note; yield }
    end

    def cold_late
      Weave.note
      Cold.late(1) { Weave.note; yield }
    end

    def cold_tail
      Weave.note
      Cold.first(1) { Weave.note; yield }
    end

    def symbol_proc(&body)
      Weave.note
      [Number.new(&body)].each(&:to_s)
    end

    def send_to(&body)
      Weave.note
      Thread.current[:body] = body
      __send__(:target)
    end

    def rescued
      Weave.note
      raise "trouble"
    rescue StandardError
      Weave.note
      yield
    end

    def ensured
      Weave.note
      begin
        raise "trouble"
      ensure
        Weave.note
        yield
      end
    end

    def monitor
      Weave.note
      Monitor.new.synchronize { Weave.note; yield }
    end

    def tracepoint(&body)
      Weave.note
      trace = TracePoint.new(:return) do |point|
        next unless point.method_id == :traced
        trace.disable
        Weave.note
        body.call
      end
      trace.enable
      traced
    end

    def traced
      Weave.note
    end

    def loaded
      Weave.note
      BODY.last.call
    end
  end

  BODY = []
  ALL = (singleton_methods(false) - %i[target loaded traced]).sort
end
