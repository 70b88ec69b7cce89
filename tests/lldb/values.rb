# SPDX-License-Identifier: MIT
require_relative "../plugin/native"

# Values of C and Ruby in LLDB: ruby-print, and what LLDB's own commands show of VALUE and ID.
class Values
  VARIABLES = %w[argument numbers constant self pair.value wrong *pair.pointer].freeze

  def initialize(ruby)
    @ruby = ruby
    @core = NativeCore.new(ruby)
  end

  def close
    @core.remove
  end

  # On this LLDB, started by rcore.
  def differences(lldb, rcore)
    @differences = []
    wrong = NativeCore::WRONG
    printed = @core.expressions
    shown = (VARIABLES + %w[pair.plain id pair.id]).map { |name| "frame variable #{name}" }
    lines = ["@look", *printed.map { |words, _| "ruby-print #{words}" }, *wrong.keys.map { |words| "ruby-print #{words}" }, "frame variable wrong",
             *shown, "type category enable ruby", *shown, "frame variable --raw argument", "bt 9", "frame variable"]
    found, *answers = lldb.run(rcore, [@core.path, *@core.ruby.files], lines)
    @differences << found.value if found.value
    printed.zip(answers.shift(printed.size)) { |(words, text), answer| same("ruby-print #{words}", text, answer.output + answer.error) }
    wrong.zip(answers.shift(wrong.size)) { |(words, message), answer| refused(words, message, answer) }
    same("what an assignment did", "(VALUE) wrong = 16\n", answers.shift.output)
    summaries(answers.shift(shown.size), answers.drop(1))
    @differences
  end

  # LLDB's expressions may write to a process, so only paths of variables and
  # registers are accepted there.
  def of_process(lldb, rcore)
    @differences = []
    NativeProcess.new(@ruby).run do |process|
      known, forbidden = process.known, [*NativeProcess::FORBIDDEN, "(VALUE) 7 + 2"]
      lines = ["@look", "@memory", *(known.keys + forbidden + ["$rsp"]).map { |words| "ruby-print #{words}" }, "@memory", "detach"]
      found, before, *answers = lldb.run(rcore, ["-p", process.pid.to_s, *@ruby.files], lines)
      @differences << found.value if found.value
      known.zip(answers.shift(known.size)) { |(words, text), answer| same("ruby-print #{words}", text, answer.output + answer.error) }
      forbidden.zip(answers.shift(forbidden.size)) { |words, answer| refused(words, "'#{words}' #{NativeCore::IN_VAIN}", answer) }
      sp, after = answers
      @differences << "a register: #{sp.output}#{sp.error}" if sp.error.include?(NativeCore::IN_VAIN)
      same("memory and registers", before.value, after.value)
      @differences << "no registers" if before.value.last.size < 16
    end
    @differences
  end

  private

  def same(what, wanted, seen)
    @differences << "#{what}: #{seen.inspect}, not #{wanted.inspect}" unless wanted == seen
  end

  def refused(words, message, answer)
    text = answer.error.delete_prefix("error: rcore: ").chomp
    @differences << "ruby-print #{words}: #{answer.output}#{answer.error}" unless answer.error.lines.size == 1 && message === text
  end

  def summaries(off, answers)
    on = answers.shift(off.size)
    VARIABLES.each_with_index do |name, at|
      number = off[at].output[/ = (\d+)$/, 1] or next @differences << "off by default: #{off[at].output}"
      hex = "0x#{number.to_i.to_s(16)}"
      text = @core.rcore("print --depth 0 #{hex}").lines.first
      same(name, off[at].output.sub(/ = \d+\n/) { " = #{hex} #{text}" }, on[at].output)
    end
    plain, id, plus = on.last(3)
    same("a number", off[-3].output, plain.output)
    @differences << "an ID: #{id.output}" unless id.output =~ /\A\(ID\) id = 0x\h+ :each_pair\n\z/
    same("an operator", "(ID) pair.id = 0x2b :+\n", plus.output)
    raw, bt, all = answers
    same("raw", off[0].output, raw.output)
    @differences << "bt: #{bt.output}" unless bt.output =~ /look\(self=0x\h+ #<Shop::Order:.*, argument=0x\h+ #{@core.truth["to"]}/
    @differences << "frame variable: #{all.output}" unless all.output =~ /pointer = 0x\h+$/ && all.output =~ /^  plain = \d+$/ && all.output =~ /\[0\] = 0x\h nil, \[1\] = 0x\h+ #{@core.truth["to"]}/
  end
end
