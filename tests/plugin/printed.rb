# SPDX-License-Identifier: MIT
require_relative "native"

# Values of C and Ruby in GDB: ruby-print, its completion, and what GDB's own commands show of VALUE and ID.
module Printed
  SELECT = "python\nframe = gdb.newest_frame()\nwhile frame.name() != 'look': frame = frame.older()\nframe.select()\nend\n".freeze

  def self.cases(rubies, debuggers)
    rubies.flat_map do |ruby|
      core = NativeCore.new(ruby)
      at_exit { core.remove }
      debuggers.select { |debugger| debugger.own? || ruby.name == "3.3" }.flat_map do |debugger|
        %w[expressions errors completion printers].map do |part|
          Case.new("values of #{ruby.name}, #{debugger.name}: #{part}") { Printed.send(part, self, core, debugger) }
        end + [Case.new("values of #{ruby.name}, #{debugger.name}: process") { Printed.process(self, ruby, debugger) }]
      end
    end
  end

  # In the C frame.
  def self.ask(core, debugger, commands)
    script = "#{core.path}.#{debugger.object_id}.#{commands.hash}.gdb"
    File.write(script, SELECT)
    debugger.run(commands, before: [*core.before, "source #{script}"])
  ensure
    File.delete(script) if script && File.exist?(script)
  end

  def self.expressions(test, core, debugger)
    wanted = core.expressions + [["$ruby_self()", "#{core.truth["self"]}\n"]]
    told = ask(core, debugger, wanted.map { |words, _| "ruby-print #{words}" })
    wanted.zip(told) { |(words, text), seen| test.same("ruby-print #{words}", text, seen) }
    names = core.truth["constants"].keys
    test.same("rcore print #{names}", core.truth["constants"].values.map { |text| "#{text}\n" }.join, core.rcore("print #{names.join(" ")}"))
  end

  def self.errors(test, core, debugger)
    told = ask(core, debugger, NativeCore::WRONG.keys.map { |words| "ruby-print #{words}" } + ["print wrong", "ruby-print @number"])
    NativeCore::WRONG.zip(told) do |(words, message), seen|
      text = seen.delete_prefix("rcore: ").chomp
      test.fail("ruby-print #{words}: #{seen}") unless seen.lines.size == 1 && seen.start_with?("rcore: ") && message === text
    end
    test.same("what an assignment did", "$1 = 16\n", told[-2])
    test.same("and then", "7\n", told[-1])
  end

  # A process: any expression that only reads.
  def self.process(test, ruby, debugger)
    NativeProcess.new(ruby).run do |process|
      sums, select = %w[sums select].map { |name| process.file("#{name}.gdb") }
      File.write(sums, Living::SUMS)
      File.write(select, SELECT)
      wanted = process.known.merge("(VALUE) 7 + 2" => "4\n", "$sp == 0" => "false\n")
      commands = ["python print(sums())", *(wanted.keys + NativeProcess::FORBIDDEN).map { |words| "ruby-print #{words}" }, "python print(sums())", "detach"]
      before, *told = debugger.run(commands, before: ["set sysroot #{ruby.root}", "file #{ruby.outside(ruby.program)}", "attach #{process.pid}", "source #{sums}", "source #{select}"])
      test.fail("no sum: #{before}") unless before =~ /\A\h{64}\n\z/
      wanted.zip(told.shift(wanted.size)) { |(words, text), seen| test.same("ruby-print #{words}", text, seen) }
      NativeProcess::FORBIDDEN.zip(told) { |words, seen| test.same("ruby-print #{words}", "rcore: '#{words}' #{NativeCore::IN_VAIN}\n", seen) }
      test.same("memory and registers", before, told[-2])
    end
  end

  def self.completion(test, core, debugger)
    wanted = NativeCore::COMPLETIONS
    told = ask(core, debugger, wanted.keys.map { |begun| "complete ruby-print #{begun}" })
    wanted.zip(told) { |(begun, words), seen| test.same(begun, words.map { |word| "ruby-print #{word}\n" }.join, seen) }
  end

  # A VALUE as print/r shows it, and what rcore prints for it.
  def self.shown(core, number)
    hex = "0x#{number.to_s(16)}"
    "#{hex} #{core.rcore("print --depth 0 #{hex}").lines.first.chomp}"
  end

  VARIABLES = %w[argument numbers constant self pair.value pair.list[0] wrong *pair.pointer].freeze

  def self.printers(test, core, debugger)
    others = ["pair.plain", "pair.pointer", "(unsigned long) argument"]
    asked = (VARIABLES + others).map { |name| "output #{name}" }
    commands = [*asked, "bt -no-filters 1", "show ruby print-values", "set ruby print-values on", *asked, "output id", "output pair.id", "output/r argument",
                "frame", "info locals", "thread apply all -q bt -no-filters", "set ruby print-values off", *asked]
    told = ask(core, debugger, commands)
    before, after = told.first(asked.size), told.last(asked.size)
    test.same("off again", before, after)
    test.fail("off by default: #{before}") unless before.first(VARIABLES.size).all?(/\A\d+\z/)
    on = told[asked.size + 3, asked.size]
    VARIABLES.each_index { |at| test.same(VARIABLES[at], shown(core, before[at].to_i), on[at]) }
    others.each_index { |at| test.same(others[at], before[VARIABLES.size + at], on[VARIABLES.size + at]) }
    id, plus, raw, frame, locals, all = told[2 * asked.size + 3, 6]
    test.fail("an ID: #{id}") unless id =~ /\A0x\h+ :each_pair\z/
    test.same("an operator", "0x2b :+", plus)
    test.same("raw", before[0].to_i, Integer(raw))
    argument = shown(core, before[0].to_i)
    test.fail("no truth: #{argument}") unless argument.end_with?(" #{core.truth["to"]}")
    [frame, all].each { |text| test.fail("arguments: #{text}") unless text.include?("argument=#{argument}") }
    test.fail("locals: #{locals}") unless locals.include?("constant = #{argument}\n") && locals.include?("list = {0x#{before[5].to_i.to_s(16)} nil, #{argument}}")
  end
end
