# SPDX-License-Identifier: MIT
require_relative "units"
require_relative "statements"

# Makes a random Ruby program that runs until it is killed. The same seed and Ruby make the same program.
#
# A program is a list of units, each something that can be called with a depth and a value, in one of the ways
# that Ruby has (units.rb). The body of a unit is some statements (statements.rb) that call earlier
# units with a smaller depth, so every call comes to its end.
class Generator
  UNITS = 24..40

  # What comes first in each program. `leave` ends what is too deep, and now and then raises.
  HEAD = <<~RUBY
    require "delegate"; require "erb"; require "fiber"; require "forwardable"; require "json"; require "monitor"
    require "set"; require "singleton"; require "stringio"; require "timeout"; require "weakref"
    TOP = self
    LOCK = Monitor.new
    PARKED = []
    class Oops < StandardError; end
    def leave(v)
      raise Oops, "at \#{v}" if rand(40).zero?
      v.to_i & 0xffff
    end
  RUBY

  # Each of the main thread, some others and fibers that stay where they are calls what it likes.
  TAIL = <<~RUBY
    def keep_calling
      loop do
        UNITS.sample.call(rand(2..9), rand(100))
      rescue StandardError, SystemStackError
        Thread.pass
      end
    end
    def park(depth)
      return PARKED << Fiber.new { [1].each { UNITS.sample.call(4, 1) rescue 1; Fiber.yield } }.tap { |fiber| fiber.resume rescue 1 } if depth.zero?
      park(depth - 1)
    end
    %{threads}.times { |number| Thread.new { Thread.current.report_on_exception = false; keep_calling } }
    %{fibers}.times { |number| park(number) }
    keep_calling
  RUBY

  attr_reader :random, :version

  def initialize(seed, version)
    @random, @version = Random.new(seed), version
    @calls = []
  end

  # file name => text
  def files
    @files = {}
    text = [HEAD, *Array.new(@random.rand(UNITS)) { |number| unit(number) }]
    text << "UNITS = [#{@calls.map { |call| "->(d, v) { #{call} }" }.join(",\n  ")}]\n"
    text << format(TAIL, threads: @random.rand(4), fibers: @random.rand(4))
    { "main.rb" => text.join("\n") }.merge(@files)
  end

  # Text from a template: NAME, NAME2 ... a new name, CALL an expression that calls an earlier unit, BODY statements.
  def fill(template, number)
    template.gsub(/CALL|BODY|BARE|LEAF|NUMBER|SMALL/) do |word|
      case word
      when "CALL" then call
      when "BODY" then body
      when "BARE" then body(bare: true)
      when "LEAF" then pick(Statements::LEAVES)
      when "NUMBER" then number.to_s
      when "SMALL" then @random.rand(1..4).to_s
      end
    end
  end

  private

  def unit(number)
    shape = pick(Units::ALL)
    definition = fill(shape[:is], number)
    @files["other_#{number}.rb"] = fill(shape[:file], number) if shape[:file]
    @calls << fill(shape[:call], number)
    definition
  end

  # Only what this Ruby can parse.
  def pick(list)
    loop do
      each = list.sample(random: @random)
      return each unless each.is_a?(Hash) && each[:since] && @version < Gem::Version.new(each[:since])
    end
  end

  # Each runs one level less deep. Mostly the units before, so that stacks become deep.
  def call
    return "::TOP.__send__(:leave, v)" if @calls.empty?
    called = @random.rand < 0.7 ? @calls.last(6).sample(random: @random) : @calls.sample(random: @random)
    "(d > 0 ? #{called.gsub(/\(d, v\)|\[d, v\]/) { |arguments| arguments.sub("d", "d - 1") }} : ::TOP.__send__(:leave, v))"
  end

  # bare: statements that need nothing of Kernel, for a BasicObject.
  def body(bare: false)
    return "v + #{call}.to_i" if bare
    lines = Array.new(@random.rand(1..3)) { statement }
    [*lines, "v.to_i & 0xffff"].join("\n")
  end

  def statement
    template = pick(Statements::ALL)
    fill(template.is_a?(Hash) ? template[:is] : template, @random.rand(1000))
  end
end

puts Generator.new(ARGV[0].to_i, Gem::Version.new(ARGV[1])).files.map { |name, text| "# #{name}\n#{text}" } if $PROGRAM_NAME == __FILE__
