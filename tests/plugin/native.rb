# SPDX-License-Identifier: MIT
require "json"
require_relative "../truth/rubies"
require_relative "../truth/suite"
require_relative "cores"
require_relative "running"

# programs/values on a Ruby: an extension with debug information, called with values that the program wrote down.
class NativeCore < Cores::Core
  def initialize(ruby)
    super(ruby, "values")
  end

  def prepare(folder)
    NativeCore.build(ruby, folder)
  end

  # `folder` as the Ruby sees it.
  def self.build(ruby, folder)
    flags = ruby.build_flags or raise "no headers of Ruby #{ruby.name}"
    gcc = ruby.shell(["gcc", "-std=gnu17", "-O0", "-g", "-w", "-shared", "-fPIC", *flags, "-o", "native.so", "native.c"], directory: folder)
    system(*gcc) or raise "cannot build native.c for Ruby #{ruby.name}"
  end

  # What the program wrote.
  def truth
    path
    @truth ||= JSON.parse(File.read(@ruby.outside(File.join(@folder, "values/truth.json"))))
  end

  # The arguments of ruby-print, and what it must print.
  def expressions
    known = truth
    constants = known["constants"].map { |name, text| [name, "#{text}\n"] }
    constants + [
      ["self", "#{known["self"]}\n"],
      ["to", "#{known["to"]}\n"],
      ["café", "#{known["café"]}\n"],
      ["to urgent café @lines", %w[to urgent café lines].map { |name| "#{known[name]}\n" }.join],
      ["@number ORDER.@number self.@number", "7\n" * 3],
      ["self.@base", "#{known["base"]}\n"],
      ["--depth 1 @lines", "[[... (2 more)], [... (2 more)]]\n"],
      ["--depth 0 @lines", "[... (2 more)]\n"],
      ["0x14 0 3", "true\nfalse\n1\n"],
      # Of the debugger, in the C frame.
      ["numbers", "#{known["lines"]}\n"],
      ["argument", "#{known["to"]}\n"],
      ["pair.list[1]", "#{known["to"]}\n"],
      ["*pair.pointer", "#{known["lines"]}\n"],
      ["pair.list[0]", "nil\n"],
      ["pair.plain", "#{known["to"]}\n"],
      ["(VALUE) 7 + 2", "4\n"],
      ["--id id", ":each_pair\n"],
    ]
  end

  # What a debugger may complete each of these to.
  COMPLETIONS = {
    "Shop::Order::L" => %w[Shop::Order::LIMIT Shop::Order::Later],
    "::Shop::B" => %w[::Shop::Base],
    "Shop::Order::OL" => %w[Shop::Order::OLD],
    "OR" => %w[ORDER],
    "urg" => %w[urgent],
    "sel" => %w[self],
    "@l" => %w[@lines],
    "self.@n" => %w[self.@number],
    "ORDER.@" => %w[ORDER.@base ORDER.@lines ORDER.@number],
    "@base.@" => [],
    "Nope::" => [],
    "nope.@" => [],
    "--max" => %w[--max-items --max-string --max-text],
  }.freeze

  IN_VAIN = "is not a VALUE, a local of the selected Ruby frame, a constant or an integer expression; see help ruby-print".freeze

  WRONG = {
    "nope" => "'nope' #{IN_VAIN}",
    "8 nope" => "'8 nope' #{IN_VAIN}",
    "1 +" => "'1 +' #{IN_VAIN}",
    "pair" => "'pair' #{IN_VAIN}",
    "look(1,2,3)" => "'look(1,2,3)' #{IN_VAIN}",
    "wrong=8" => "'wrong=8' #{IN_VAIN}",
    "nope.@x" => "'nope' is not a local of the selected Ruby frame",
    "Nope.@x" => "'Nope' is not a constant",
    "@nope" => /\A#<Shop::Order:0x\h{16} \.\.\. \(3 more\)> has no instance variable @nope\z/,
    "@lines.@x" => "[... (2 more)] has no instance variable @x",
    "Nope" => "there is no constant Nope",
    "Shop::Nope" => "there is no constant Shop::Nope",
    "Shop::Order::LIMIT::X" => "Shop::Order::LIMIT is neither a class nor a module, so it has no constants",
    "Shop::Order::Later" => "constant Shop::Order::Later is an autoload that has not been loaded yet",
    "--bogus 1" => "unknown option '--bogus'; see help ruby-print",
    "" => "missing VALUE; name an address or a constant",
  }.freeze
end

# The same program, which sleeps in the C function while a block runs.
class NativeProcess < RunningProgram
  def initialize(ruby)
    super(ruby, "values")
    NativeCore.build(ruby, @inside)
  end

  def run
    super("truth.json", "stay") do
      wait_until("sleep") { settled?(pid) }
      yield self
    end
  end

  # Some expressions, and the keys of the truth that they show.
  def known
    { "numbers" => "lines", "argument" => "to", "pair.list[1]" => "to", "*pair.pointer" => "lines", "pair.plain" => "to" }
      .transform_values { |key| "#{read("truth.json")[key]}\n" }
  end

  # What would write to the process, or run its code.
  FORBIDDEN = ["wrong=8", "id = 5", "wrong++", "*--pair.pointer", "wrong <<= 1", "wrong |= 1", "*pair.pointer = 8", "$rbx = 7", "$rip=0", "look(1,2,3)"].freeze
end
