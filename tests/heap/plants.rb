# SPDX-License-Identifier: MIT
#
# Objects that only one reference leads to: one for each rule of analyzer/ruby/children/ (tests/heap/rules). A stale word
# of a stack may lead to an object, too, so there are three of each.
require "coverage"

module Plants
  HELD = []
  COPIES = 3

  class << self
    # Each method of Planters plants something.
    def plant
      Planters.instance_methods(false).each { |name| COPIES.times { |number| Planter.new.send(name, number) } }
      Planter.new.overwrite(60)
    end
  end

  # A class that includes the methods below, so that each object has another self.
  module Planters
  end

  class Planter
    include Planters

    def hold(*objects)
      HELD.concat(objects)
    end

    # Overwrites what is left of calls on the stack.
    def overwrite(depth)
      depth.zero? ? [1].each { |x| x.to_s } : overwrite(depth - 1)
    end

    # A fiber that waits inside of the block.
    def park(**options, &block)
      fiber = options.empty? ? Fiber.new(&block) : Fiber.new(**options, &block)
      hold(fiber)
      fiber.resume
      fiber
    end

    # A thread that sleeps inside of the block.
    def sleeper(&block)
      thread = Thread.new(&block)
      hold(thread)
      Thread.pass until thread.stop?
      thread
    end
  end
end

# Classes and modules.
module Plants::Planters
  def classes_of_objects(number)
    [String, Array, Hash, Object, Mutex, Queue].each { |klass| hold(Class.new(klass).new) }
    hold(Class.new(Regexp).new("r#{number}"), Class.new(File).open("/dev/null"), Class.new(Struct.new(:a)).new(1))
    hold("m#{number}".match(/m/).tap(&:singleton_class), Class.new(Module).new)
  end

  def included_modules(_)
    hold(Class.new { include Module.new }, Module.new { prepend Module.new }, Class.new { prepend Module.new })
  end

  def attached_object(_)
    hold(Object.new.singleton_class)
  end

  def entries_of_constants(number)
    [Class.new, Module.new].each { |place| hold(place.module_eval("X = 1; self", "constant #{number} of #{place.class}")) }
  end

  def class_variables(number)
    [Class.new, Module.new].each do |place|
      place.class_variable_set(:@@x, "class variable #{number}")
      2.times { place.module_eval("def self.x; @@x; end; x; @@x") }
      hold(place)
    end
  end

  # What only the call caches of a class still have: the code that called is gone.
  def call_caches(_)
    object = Class.new { def call(one: 1, two: 2); one; end }.new
    2.times { eval("object.call(two: 5, one: 3)") }
    hold(object)
  end

  def call_caches_of_includers(_)
    first, second = Module.new { def call; 1; end }, nil
    second = Module.new { eval("def call; super; end") }
    object = Class.new { include first; include second }.new
    2.times { object.call }
    second.send(:remove_method, :call)
    hold(object)
  end

  # The class that was called dies; the entry stays with the class above it.
  def complemented_entries(_)
    mixin = Module.new { def call; 1; end }
    above = Class.new { include mixin }
    2.times { Class.new(above).new.call }
    hold(above)
  end

  def refinements(number)
    name = "Refined#{number}"
    Plants.module_eval(<<~CODE)
      class #{name}; def call; 1; end; end
      module #{name}Other; refine(#{name}) { def call; super + 1; end }; end
      module #{name}User; using #{name}Other; def self.use; #{name}.new.call; end; end
      2.times { #{name}User.use }
    CODE
  end

  def autoloads(number)
    hold(Module.new { autoload(:"Planted#{number}", "/nowhere/#{number}") })
  end
end

# Methods and code.
module Plants::Planters
  def blocks_as_methods(number)
    hold(Class.new { define_method(:call, &Class.new.class_eval("proc { #{number} }")) })
  end

  # The code of the method names the module; nothing else does.
  def places_of_code(number)
    mixin = Module.new
    mixin.module_eval("def call; #{number}; end")
    method = mixin.instance_method(:call)
    hold(Class.new { define_method(:call, method) })
  end

  def method_objects(number)
    object = Object.new
    def object.call; 1; end
    hold(object.method(:call), "receiver #{number}".dup.method(:upcase), [].method(:push).to_proc)
    object.singleton_class.send(:remove_method, :call)
    hold(method(:hold).to_proc, method(:hold).unbind)
  end

  def literals_of_code(number)
    keyword = eval("Class.new { def call(one: 123456789012345678901234567890#{number}, two: one, three: 3.25r); one; end }").new
    keyword.call
    once = eval("Class.new { def call; /once\#{object_id}/o; end }").new
    2.times { once.call }
    hold(keyword, once)
  end

  def wrappers_of_code(number)
    object = eval("Class.new { def call; #{number}; end }").new
    RubyVM::InstructionSequence.of(object.method(:call))
    hold(object, RubyVM::InstructionSequence.compile("[#{number}].first"))
  end

  # The cache in the module's code has the class, which is gone.
  def caches_of_variables(_)
    mixin = Module.new { eval("def call; @planted; end") }
    2.times { Class.new { include mixin; def initialize; @planted = 1; end }.new.call }
    hold(mixin)
  end

  def caches_of_constants(number)
    place = Plants.const_set("Cached#{number}", Module.new)
    place.module_eval("Value = 'constant #{number}'.dup; def self.call; Value; end")
    2.times { place.call }
    place.send(:remove_const, :Value)
  end

  def traced_code(_)
    object = Class.new { eval("def call; 1; end"); define_method(:block) { 1 } }.new
    %i[call block].each { |name| TracePoint.new(:line, :call) { }.enable(target: object.method(name)) }
    hold(object)
  end

  def covered_code(number)
    path = File.join(Dir.pwd, "covered#{number}.rb")
    File.write(path, "(Plants::HELD << Object.new).last.instance_eval do\ndef covered(x)\nx ? 1 : 2\nend\ncovered(1)\nend\n")
    Coverage.start(branches: true, lines: true) unless Coverage.running?
    load(path)
  ensure
    File.delete(path)
  end

  def lines_of_scripts(number)
    return unless RubyVM.respond_to?(:keep_script_lines=)
    RubyVM.keep_script_lines = true
    hold(eval("proc { 'script #{number}' }"))
  ensure
    RubyVM.keep_script_lines = false if RubyVM.respond_to?(:keep_script_lines=)
  end
end

# Values and other objects.
module Plants::Planters
  def numbers(number)
    hold(Rational(2**(70 + number), 3**(70 + number)), Complex(5**(70 + number), 7**(70 + number)), Time.at(2**(80 + number)))
  end

  # An object is the zone of a Time.
  def times(number)
    zone = Object.new
    def zone.local_to_utc(time); time; end
    def zone.utc_to_local(time); time; end
    hold(Time.at(number, in: zone))
  end

  def values(number)
    hold("s#{number}".match(/#{"s"}#{number}/), Struct.new(:a, :b).new("a#{number}", "b#{number}"), Struct.new(*:a.."z".to_sym).new(*("aa".."az").map { |text| text + number.to_s }))
    hold("text".dup.tap { |text| text.instance_variable_set(:@of, Object.new) }, Regexp.new("source #{number}"))
    hold(Class.new { def initialize; 300.times { |at| instance_variable_set(:"@v#{at}", Object.new) }; end }.new)
    hold(Hash.new { |hash, key| hash[key] = number }, Hash.new("default #{number}"))
    hold(Object.new.tap { |object| object.instance_variable_set(:@a, Object.new) })
  end

  # More than Symbol#to_proc keeps.
  def symbols(number)
    100.times { |at| hold("symbol #{number} #{at}".to_sym.to_proc) }
  end

  def files(number)
    file = File.open("/dev/null", "w:utf-16le", undef: :replace, replace: "a#{number}")
    file.sync = false
    file.write("text")
    file.set_encoding("utf-16be", undef: :replace, replace: "b#{number}")
    file.timeout = Rational(10**12 + number, 7) if file.respond_to?(:timeout=)
    file.instance_variable_set(:@of, Object.new)
    hold(file, IO.popen("cat", "r+"))
  end

  def enumerators(number)
    hold([Object.new].each, [1].each_with_object(Object.new), Enumerator.new(&block_of(number)), Enumerator::Yielder.new(&block_of(number)))
    hold([1].lazy.map(&block_of(number)).select(&block_of(number)), [[Object.new]].each + [[Object.new]], Enumerator.new(block_of(number)) { })
    # The block is not a Proc yet, so the step gets its own.
    hold([1].lazy.map { |each| each + number })
    hold([Object.new, Object.new].each.tap(&:next), [Object.new, 1].each.tap(&:peek))
    hold([1, 2].map.tap { |each| each.next and each.feed(Object.new) })
    each = [1].each
    each.next
    begin
      each.next
    rescue StopIteration
      hold(each)
    end
  end

  # From 3.3 on, their slots have had Arrays, whose last elements are no references of theirs.
  def producers(number)
    if RUBY_VERSION >= "3.3"
      1000.times { Array.new(8, Plants::HELD) }
      overwrite(60)
      GC.start
    end
    50.times { hold(Enumerator.produce(Object.new, &block_of(number))) } if RUBY_VERSION >= "2.7"
  end

  # Calls next() in a fiber that has ended.
  def enumerators_of_fibers(number)
    each = ["a#{number}"].each
    Fiber.new { each.next }.resume
    hold(each)
  end

  # What raised is gone, but the code and the method are in the backtrace.
  def errors(number)
    object = Object.new
    object.instance_eval("def call; raise('error #{number}'); end")
    object.call
  rescue RuntimeError => error
    error.backtrace
    object.singleton_class.send(:remove_method, :call)
    hold(error)
  end

  def errors_of_text(number)
    Object.new.instance_eval("raise('text #{number}')")
  rescue RuntimeError => error
    hold(error)
  end

  # A block that nothing else has.
  private def block_of(value = Object.new)
    proc { value }
  end

  def queues(_)
    hold(Queue.new << Object.new, SizedQueue.new(5) << Object.new)
  end

  def finalizers(number)
    ObjectSpace.define_finalizer(Object.new.tap { |object| hold(object) }, block_of("finalizer #{number}"))
    at_exit(&block_of("at_exit #{number}"))
  end
end

# Environments and what runs.
module Plants::Planters
  def environments(number)
    hold(Class.new { def call; binding; end }.new.call, Class.new { def call; proc { }; end }.new.call)
    hold(passed(&block_of("passed #{number}")))
    hold(Object.new.instance_eval("$_ = 'line'.dup; 'match #{number}' =~ /m/; 3.times { |i| i if (i == 0)..(i == 2) }; binding"))
    hold([[proc { outer = Object.new; proc { inner = Object.new; proc { [outer, inner] } } }.call.call]])
    parameters = RUBY_VERSION < "2.7" ? "*all" : "..."
    eval("def forward(#{parameters}); forwarded(binding, #{parameters}); end")
    forward(Object.new, Object.new)
  end

  private def passed
    proc { yield }
  end

  private def forwarded(place, *)
    hold(place)
  end

  def fibers_at_rest(number)
    hold(Fiber.new(&block_of(number)))
    park { Fiber.yield; Fiber.yield; Fiber.yield }.then { |fiber| fiber.resume(Object.new) }
    park { [Object.new, Fiber.yield] }
    park { local(Object.new) }
    park { captured = Object.new; binding && Fiber.yield }
    park { captured = Object.new; binding; [1].each { Fiber.yield } }
    park { Object.new.instance_exec { binding && Fiber.yield } }
    park { eval("Fiber.yield") }
    park(storage: { planted: Object.new }) { Fiber.yield } if Fiber.respond_to?(:[])
    park { [[]].inspect; Fiber.yield }
  end

  private def local(value)
    Fiber.yield
    value
  end

  def fibers_in_calls(number)
    park { [1].product(*Array.new(200) { [2] }) { Fiber.yield } }
    park { each_part(number).each_slice(2) { } }
    park { each_part(number).inject { |sum, one| [sum, one] } }
    park { each_part(number).min_by { |one| Fiber.yield if one == "b"; "#{one}" } }
    park { ensured { break Object.new } }
    # To look up another constant, even Fiber, would clear it.
    rest = Fiber.method(:yield)
    park { hidden_constant; overwrite(60); rest.call }
    park { Class.new(File) { def close; Fiber.yield; super; end }.open("/dev/null") { raise("error #{number}") } }
    # The arguments are copied into a buffer.
    park { :nothing.to_proc.call(Class.new { def method_missing(*); Fiber.yield; end }.new, *Array.new(200) { Object.new }) }
  end

  private def each_part(number)
    Enumerator.new { |to| to << "a#{number}"; Fiber.yield; to << "b" }
  end

  private def ensured
    yield
  ensure
    Fiber.yield
  end

  # Refers to a private constant, which ec->private_const_reference then holds.
  private def hidden_constant
    Class.new { const_set(:X, 1); private_constant(:X); def self.const_missing(_); 1; end }.class_eval("self::X")
    nil
  end

  def threads(number)
    sleeper { Thread.current[:planted] = Object.new; sleep }
    sleeper { Fiber.current; sleep }
    sleeper { $_ = "line".dup; "match #{number}" =~ /h/; sleep }
    sleeper { raise("error #{number}") rescue sleep }
    sleeper { [[]].inspect; TracePoint.new(:line) { [[]].inspect }.enable { 1 + 1 }; sleep }
    Thread.new { sleep }.name = "only the VM has it"
  end
end
