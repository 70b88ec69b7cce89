# SPDX-License-Identifier: MIT
require "json"
require "pathname"
require_relative "case"

# Compares what the commands print on a core with what rcore prints.
module Cores
  LINES = [
    "fibers", "fibers --all", "fibers --json", "fibers --verbose", "fibers --native=all", "fibers --native none",
    "fibers --thread T2", "fibers --fiber=T1.F1", "fibers -av", "fibers --thread T99", "fibers --fiber T1.F99",
    "doctor", "threads", "threads --verbose", "bt", "bt --fiber T1.F3", "bt --thread T2 --all", "bt --fiber T1.F3 --frame 1",
    "bt --frame 99", "locals", "locals --fiber T1.F3", "locals --fiber T1.F3 --frame 1 --all", "locals --frame 99", "locals --depth 0",
    "explain", "waits", "waits --json", "print RUBY_VERSION FIBERS", "print --json Worker", "print Nope", "exception",
    "exception --fiber T1.F3", "state", "state --thread T1", "state --lines", "state T1.F3 T1.F1", "state --all", "state T9.F9", "state --json", "fibers --locals --args --self", "fibers --locals --depth 1 --json",
    "heap --limit 5", "heap --class Thread --list", "heap retained --limit 3", "heap strings --limit 3", "heap verify --json", "heap malloc"
  ].freeze

  # For a debuggee that ends by a signal of its own and writes no truth.
  module Untold
    def run
      Debuggee.kernel_cores? ? die : die_under_gdb
      self
    end
  end

  # The core of a program on a Ruby, made when it is first asked for.
  class Core
    attr_reader :ruby

    def initialize(ruby, program = "parked")
      @ruby, @program = ruby, program
      @lock = Mutex.new
      @told = {}
      @workshop = Workshop.new(ruby, File.join(__dir__, "programs"))
    end

    def path
      @lock.synchronize do
        @path ||= begin
          fixture = Fixture.new(@program, File.join(__dir__, "programs"))
          @folder = @workshop.make(fixture)
          prepare(File.join(@folder, @program))
          ruby.debuggee.new(ruby, fixture, nil, :abort, @folder).extend(Untold).run.core
        end
      end
    end

    # `folder` is that of the program, as its Ruby sees it.
    def prepare(folder); end

    # What rcore prints of the core; several debuggers are compared with it.
    def rcore(line)
      @told[line] ||= ask(line)
    end

    def ask(line)
      words = line.split
      # `heap` has subcommands, which precede the core.
      command = words.shift(words[0] == "heap" && !words[1].start_with?("-") ? 2 : 1)
      out, = Open3.capture2e(Suite::RCORE, *command, path, *files, *words, binmode: true)
      out.force_encoding("UTF-8")
    end

    # The options by which rcore finds the files of the core.
    def files
      ruby.files
    end

    def report
      @report ||= JSON.parse(rcore("analyze --json"), max_nesting: false)
    end

    # The id of a fiber: the one that died, or the first with a status.
    def fiber(status = nil)
      status ? report["fibers"].find { |fiber| fiber["status"] == status }["id"] : report["cause"]["fiber"]
    end

    # The commands by which GDB opens it.
    def before
      ["set sysroot #{ruby.root}", "file #{ruby.outside(ruby.program)}", "core-file #{path}"]
    end

    def remove
      @workshop.remove(@folder) if @folder
      @workshop.close
    end
  end

  def self.cases(rubies, debuggers)
    rubies.flat_map do |ruby|
      core = Core.new(ruby)
      at_exit { core.remove }
      debuggers.select { |debugger| debugger.own? || ruby.name == "3.3" }.flat_map do |debugger|
        %w[same help stacks selection frames values errors].map do |part|
          Case.new("core of #{ruby.name}, #{debugger.name}: #{part}") { Cores.send(part, self, core, debugger) }
        end
      end + relative(core, debuggers)
    end
  end

  # GDB accepts a path for `set sysroot` that starts in its working directory.
  def self.relative(core, debuggers)
    root = core.ruby.root
    return [] if root.empty?
    [Case.new("core of #{core.ruby.name}, a relative sysroot") do
      before = core.before.drop(1).unshift("set sysroot #{Pathname(root).relative_path_from(Pathname(Dir.pwd))}")
      report, = debuggers.find(&:own?).run(["ruby-fibers"], before: before)
      same("ruby-fibers", core.rcore("analyze"), report)
    end]
  end

  # The shell's name of a command, if it is another.
  def self.shell(line)
    line.sub(/\Afibers/, "analyze").sub(/\Astate\b/) { "state --stacks" }
  end

  def self.same(test, core, debugger)
    told = debugger.run(LINES.map { |line| "ruby-#{line}" }, before: core.before)
    LINES.zip(told) do |line, text|
      wanted = core.rcore(shell(line))
      test.same("ruby-#{line}", wanted, text)
    end
    test.fail("the report is empty") if told[0].lines.size < 20
    test.fail("no locals: #{told[LINES.index("locals")]}") unless told[LINES.index("locals")] =~ /answer.*42/
    test.fail("no exception: #{told[LINES.index("exception")]}") unless told[LINES.index("exception")] =~ /ArgumentError.*not 42/
  end

  def self.help(test, _core, debugger)
    verbs = debugger.run(["help ruby"])[0].scan(/^ruby ([a-z]+) --/).flatten
    test.fail("few commands: #{verbs}") if verbs.size < 8
    debugger.run(verbs.flat_map { |verb| ["help ruby-#{verb}", "help ruby #{verb}"] }).each_with_index do |text, at|
      test.fail("help of #{verbs[at / 2]}: #{text}") unless text =~ /^Usage: ruby-/ && text =~ /^Examples:\n\n  \(gdb\) ruby-/
    end
    whole, choice, id, subcommand, own = debugger.run(["complete ruby-fibers --th", "complete ruby-fibers --native=a", "complete ruby-bt --fiber T1",
                                                       "complete ruby-heap re", "complete ruby-heap verify --l"])
    test.same("completion of options", "ruby-fibers --thread\n", whole)
    test.same("completion of choices", "ruby-fibers --native=all\n", choice)
    test.same("completion without a process", "", id)
    test.same("completion of subcommands", "ruby-heap refs\nruby-heap retained\n", subcommand)
    test.same("completion of their options", "ruby-heap verify --limit\n", own)
  end

  STACK = <<~PYTHON
    python
    def stack():
        frame = gdb.newest_frame()
        while frame.type() == gdb.INLINE_FRAME:
            frame = frame.older()
        pcs, frame = [], frame.older()
        while frame is not None and frame.pc():
            if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
                pcs.append(hex(frame.pc()))
            frame = frame.older()
        return ' '.join(pcs)
    end
  PYTHON

  # The stack of each parked fiber, as GDB unwinds it.
  def self.stacks(test, core, debugger)
    script = "#{core.path}.#{debugger.own?}.gdb"
    File.write(script, STACK)
    fibers = core.report["fibers"].select { |fiber| fiber["status"] == "suspended" }
    test.fail("only #{fibers.size} parked fibers") if fibers.size < 6
    commands = fibers.flat_map { |fiber| ["ruby-fiber #{fiber['id']}", "bt -no-filters 8", "maint flush register-cache", "python print(stack())"] }
    told = debugger.run(commands, before: core.before + ["set backtrace past-main on", "source #{script}"])
    fibers.each_with_index do |fiber, at|
      native = fiber["native"].reject { |frame| frame["inlined"] }.map { |frame| frame["pc"] }
      test.same("stack of #{fiber['id']}", native.join(" "), told[4 * at + 3].lines.last.to_s.chomp)
      # Functions may be inlined into the thread's own frame, which comes first.
      first = "0x%016x" % native[0].hex
      test.fail("backtrace of #{fiber['id']}: no #{first} in #{told[4 * at + 1]}") unless told[4 * at + 1].include?(first)
    end
  ensure
    File.delete(script) if File.exist?(script)
  end

  # Selecting a fiber, and what remains of it afterwards.
  def self.selection(test, core, debugger)
    fiber = core.report["fibers"].find { |one| one["id"] == "T1.F3" }
    pc = "0x%016x" % fiber["native"][0]["pc"].hex
    other = core.report["threads"].find { |thread| thread["id"] == "T2" }["tid"]
    commands = ["ruby-fiber", "ruby-fiber T1.F3", "frame", "bt 1", "ruby-bt", "ruby-frame 1", "ruby-bt --frame 0",
                "ruby-up", "ruby-down 2", "python [t.switch() for t in gdb.selected_inferior().threads() if t.ptid[1] == #{other}]",
                "ruby-fiber", "bt -no-filters 1", "thread 1", "bt -no-filters 2", "ruby-fiber #{fiber['address']}", "ruby-fiber off",
                "bt 1", "ruby-fiber off", "ruby-fiber #{core.fiber('created')}"]
    told = debugger.run(commands, before: core.before)
    said = commands.zip(told).to_a
    test.same("nothing selected", "fiber #{core.fiber}, run by this thread\n", told[0])
    test.same("a fiber", "fiber T1.F3, parked; ruby-fiber off returns to its thread\n", told[1])
    test.fail("frame: #{told[2]}") unless told[2] =~ /\A#1 .*#{pc}/
    test.fail("bt: #{told[3]}") unless told[3] =~ /\A#1 .*#{pc}/
    test.same("ruby-bt", core.rcore("bt --fiber T1.F3"), told[4])
    [[5, 1], [6, 0], [7, 2], [8, 0]].each { |at, frame| test.same(commands[at], core.rcore("bt --fiber T1.F3 --frame #{frame}"), told[at]) }
    test.same("in another thread", "fiber T2.F0, run by this thread\n", told[10])
    test.fail("bt of another thread: #{told[11]}") if told[11].include?(pc)
    test.fail("bt back in its thread: #{told[13]}") unless told[13] =~ /^#1 .*#{pc}/
    test.same("by address", told[1], told[14])
    test.same("off", "", told[15])
    test.fail("bt after off: #{told[16]}") unless told[16].start_with?("#0 ")
    test.same("off again", "rcore: no fiber is selected\n", told[17])
    test.same("a fiber that has not begun", "rcore: fiber #{core.fiber('created')} has no stack to select: it has not begun, or has ended\n", told[18])
    said
  end

  # Ruby frames in GDB's backtrace: all of them, in their order.
  def self.frames(test, core, debugger)
    ids = ["T1.F3", core.fiber]
    commands = ["ruby-fiber T1.F3", "bt", "set ruby frames off", "bt", "set ruby frames on", "bt -no-filters", "ruby-fiber off", "bt", "bt -2", "bt 2"]
    told = debugger.run(commands, before: core.before)
    ids.zip([told[1], told[7]]) do |id, text|
      fiber = core.report["fibers"].find { |one| one["id"] == id }
      wanted = fiber["frames"].reject { |frame| frame["kind"] == "dummy" }
                              .map { |frame| frame["label"] + " ()" + (frame["path"] ? " at #{frame['path']}:#{frame['line']}" : "") }
      test.same("Ruby frames of #{id}", wanted, text.scan(/^    (\S.*)$/).flatten)
      order(test, fiber, text)
    end
    [3, 5].each { |at| test.fail("#{commands[at]}: #{told[at]}") if told[at] =~ /Worker/ }
    test.fail("bt of a fiber begins with #{told[1].lines[0]}") unless told[1].start_with?("#1 ")
    test.same("frames of bt 2", 2, told[9].lines.grep(/^#/).size)
  end

  # Native and Ruby frames alternate as in rcore's own stack.
  def self.order(test, fiber, text)
    wanted = fiber["stack"].map do |step|
      next "ruby" if step["frame"] && fiber["frames"][step["frame"]]["kind"] != "dummy"
      "0x%016x" % fiber["native"][step["native"]]["pc"].hex if step["native"] && !fiber["native"][step["native"]]["inlined"]
    end
    told = text.lines.map { |line| line.start_with?("    ") ? "ruby" : line[/\A#\d+ +(0x\h+)/, 1] }
    wanted = wanted.compact
    # GDB omits an address at which a line begins, and continues below the first
    # function.
    told.compact!
    told.pop if told.last == "0x#{'0' * 16}"
    wanted.shift while wanted.any? && wanted[0] != told[0]
    test.same("order of frames of #{fiber['id']}", wanted, told)
  end

  # Values by name, for the selected frame.
  def self.values(test, core, debugger)
    commands = ["print $ruby_local(\"answer\")", "print $ruby_local(\"nosuch\")", "ruby-fiber T1.F3", "ruby-frame 1", "ruby-locals",
                "print $ruby_local(\"here\")", "print $ruby_local(\"depth\")", "print/x $ruby_self()", "print/x $ruby_fiber()",
                "print $ruby_state(\"nosuch\")"]
    told = debugger.run(commands, before: core.before)
    fiber = core.report["fibers"].find { |one| one["id"] == "T1.F3" }
    test.same("an Integer", "$1 = 42\n", told[0])
    test.fail("no local: #{told[1]}") unless told[1] =~ /\Arcore: there is no local nosuch in frame \d\n\z/
    test.same("ruby-locals", core.rcore("locals --fiber T1.F3 --frame 1"), told[4])
    test.fail("a String: #{told[5]}") unless told[5] =~ /\A\$2 = "worker \d"\n\z/
    test.same("a parameter", "$3 = 0\n", told[6])
    test.same("self", "$4 = #{fiber["frames"][1]["self"]}\n", told[7])
    test.same("the fiber", "$5 = #{fiber["address"]}\n", told[8])
    test.same("no context", "$6 = 0\n", told[9])
  end

  # One line, whatever is wrong, and the next command works.
  def self.errors(test, core, debugger)
    wrong = { "ruby-fibers --bogus" => "unknown option '--bogus'; see help ruby-fibers",
              "ruby-fibers T1" => "unexpected argument 'T1'; see help ruby-fibers",
              "ruby-fiber T1.F1 T1.F2" => "name one fiber; see help ruby-fiber",
              "ruby-frame x" => "ruby-frame accepts one number; see help ruby-frame",
              "ruby-down 3" => "frame 0 is the innermost",
              "ruby-bt --native=some" => "option '--native' must be fold, all or none, not 'some'; see help ruby-bt" }
    told = debugger.run(wrong.keys + ["ruby-threads"], before: core.before)
    wrong.values.zip(told) { |message, text| test.same(message, "rcore: #{message}\n", text) }
    test.same("and then", core.rcore("threads"), told.last)
    text = debugger.run(["ruby-bt", "bt", "ruby", "ruby-fiber T1.F1"])
    test.same("no process", "rcore: there is no process; use core-file CORE or attach PID, and try again\n", text[0])
    test.same("no process", "No stack.\n", text[1])
    test.same("no process", text[0], text[3])
    test.fail("ruby alone: #{text[2]}") unless text[2].include?("ruby fibers --")
  end
end
