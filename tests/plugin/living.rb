# SPDX-License-Identifier: MIT
require "pathname"
require "socket"
require_relative "case"
require_relative "running"

# Compares what the commands print for a running process with what rcore prints
# for it, and checks that they do not change it.
module Living
  ROOT = Child::ROOT

  # The program of programs/living, while a block runs.
  class Program < RunningProgram
    def initialize(ruby)
      super(ruby, "living")
    end

    def run(*arguments, &block)
      super("counter", *arguments, &block)
    end

    def counter
      Integer(File.read(path("counter")))
    end

    # The process is stopped by a signal while a block runs.
    def stand
      Child.signal(:STOP, pid)
      wait_until("stop") { settled?(pid, :stop) }
      yield
    ensure
      Child.signal(:CONT, pid)
    end

    def goes_on?
      before = counter
      wait_until("progress") { counter > before + 1 }
    end

    def files
      ["set sysroot #{@ruby.root}", "file #{@ruby.outside(@ruby.program)}"]
    end

    def command_line(*arguments)
      @variant = arguments
      command("")
    end
  end

  def self.cases(rubies, debuggers)
    every = rubies.product(debuggers).select { |ruby, debugger| debugger.own? || ruby.name == "3.3" }
    own = debuggers.find(&:own?)
    every.flat_map do |ruby, debugger|
      %w[attached untouched ids].map { |part| one(ruby, debugger, part) }
    end + rubies.flat_map { |ruby| %w[remote conditions non_stop].map { |part| one(ruby, own, part) } } +
      rubies.reject { |ruby| ruby.root.empty? }.map { |ruby| one(ruby, own, "rooted") } +
      rubies.select { |ruby| ruby.root.empty? }.flat_map { |ruby| %w[forks inferiors interrupt].map { |part| one(ruby, own, part) } } +
      rubies.select { |ruby| ruby.root.empty? }.map do |ruby|
        Case.new("process of #{ruby.name}, #{own.name}: waits") { Living.waits(self, ruby) { |program| own.run(["ruby-waits"], before: ["attach #{program.pid}"]).first } }
      end
  end

  # What threads wait for, with what their descriptors are, as in the shell. The debugger may be GDB or LLDB.
  def self.waits(test, ruby)
    reading = RunningProgram.new(ruby, "reading")
    reading.run("pid") do
      reading.rest
      wanted, = Open3.capture2(*ROOT, Suite::RCORE, "waits", "-p", reading.pid.to_s)
      test.fail("rcore waits: #{wanted}") unless wanted.scan(/waits to read fd \d+ \((?:socket:\[\d+\] TCP \S+ with \S+|pipe:\[\d+\])\)/).size == 3
      test.same("ruby-waits", wanted, yield(reading))
    end
  end

  def self.one(ruby, debugger, part)
    Case.new("process of #{ruby.name}, #{debugger.name}: #{part}") do
      program = Program.new(ruby)
      program.run { Living.send(part, self, ruby, debugger, program) }
    end
  end

  LINES = ["fibers", "fibers --all --native=all", "threads --verbose", "bt --thread T1", "bt --thread T2", "fibers --json --fiber T1.F1"].freeze

  # Who reads the process, and for how long it was stopped, differs; the rest is
  # the same.
  def self.body(line, text)
    return text.gsub(/^ "(?:live|source)": .*\n/, "") if line.include?("--json")
    line.start_with?("fibers") ? text.lines.drop(2).join : text
  end

  # Compares what GDB's commands print with what rcore prints right after, for a
  # process that a signal has stopped.
  def self.compare(test, ruby, debugger, program, before)
    told = debugger.run(LINES.map { |line| "ruby-#{line}" }, before: program.files + before)
    LINES.zip(told) do |line, text|
      command, *words = line.sub(/\Afibers/, "analyze").split
      wanted, said, = Open3.capture3(*ROOT, Suite::RCORE, command, "-p", program.pid.to_s, *words, binmode: true)
      # GDB's user sees that the process is stopped.
      wanted = said.lines.grep_v(/a signal has stopped process #{program.pid} /).join + wanted
      test.same("ruby-#{line}", body(line, wanted.force_encoding("UTF-8")), body(line, text))
    end
    test.fail("no fibers: #{told[0]}") unless told[0].include?("T1.F3")
    test.same("the line below the title", "Alive: a debugger has stopped it\n", told[0].lines[1])
  end

  def self.attached(test, ruby, debugger, program)
    program.stand { compare(test, ruby, debugger, program, ["attach #{program.pid}"]) }
    program.goes_on?
  end

  def self.remote(test, ruby, debugger, program)
    program.stand do
      IO.popen([*ROOT, "gdbserver", "--once", "--attach", "127.0.0.1:0", program.pid.to_s, { err: %i[child out] }]) do |server|
        said = []
        port = nil
        until port
          said << (server.gets or raise "gdbserver ended: #{said.join}")
          port = said.last[/Listening on port (\d+)/, 1]
        end
        compare(test, ruby, debugger, program, ["target remote 127.0.0.1:#{port}"])
      end
    end
    program.goes_on?
  end

  # GDB and rcore read the files below the root folder of the process, which rcore gdb finds if no --sysroot names it; one
  # that is relative names the same files.
  def self.rooted(test, ruby, debugger, program)
    relative = Pathname(ruby.root).relative_path_from(Pathname(Dir.pwd)).to_s
    ask = ["show sysroot", "info sharedlibrary libruby", "ruby-bt --native=all"]
    wanted = nil
    program.stand do
      wanted, _, = Open3.capture3(*ROOT, Suite::RCORE, "bt", "-p", program.pid.to_s, "--native=all")
      [[], ["--sysroot", relative]].each do |words|
        out, = Open3.capture2e(*ROOT, "timeout", Child::LIMIT.to_s, Suite::RCORE, "gdb", "-p", program.pid.to_s, *words, "--", "-nx", "-batch",
                               *ask.flat_map { |line| ["-ex", line] }, stdin_data: "")
        check_rooted(test, "rcore gdb #{words.join(" ")}", out.force_encoding("UTF-8"), ruby, wanted)
      end
      out = debugger.run(ask, before: ["set sysroot #{relative}", "file #{ruby.outside(ruby.program)}", "attach #{program.pid}"]).join
      check_rooted(test, "set sysroot #{relative}", out, ruby, wanted, sysroot: relative)
    end
    program.goes_on?
  end

  def self.check_rooted(test, name, out, ruby, wanted, sysroot: ruby.root)
    test.fail("#{name}: #{out}") unless out.include?("The current system root is \"#{sysroot}\".\n")
    test.fail("#{name}: no libruby of #{sysroot}: #{out}") unless out =~ /0x.*Yes.* #{Regexp.escape(sysroot)}\S*libruby/
    test.fail("#{name}: #{out}, not\n#{wanted}") unless out.include?(wanted)
  end

  SUMS = <<~PYTHON
    python
    import hashlib, sys
    sys.path.insert(0, "#{File.expand_path("../support", __dir__)}")
    sys.dont_write_bytecode = True
    import process_memory
    def sums():
        digest = hashlib.sha256(process_memory.digest(gdb.selected_inferior().pid).encode())
        for thread in gdb.selected_inferior().threads():
            digest.update(gdb.execute("thread apply %d -q info registers" % thread.num, to_string=True).encode())
        return digest.hexdigest()
    end
  PYTHON

  FIFTY = (["ruby-fibers", "ruby-fibers --json", "ruby-doctor", "ruby-fiber T1.F1", "bt", "ruby-bt", "ruby-frame 1", "ruby-up", "ruby-down",
            "print $ruby_self()", "print $ruby_ec()", "info registers", "up", "ruby-fiber T1.F99", "ruby-nonsense", "ruby-fibers --fiber",
            "ruby-frame 9999", "thread 1", "bt full", "complete ruby-fiber T1.", "ruby-fiber off", "ruby-threads --verbose", "thread apply all bt",
            "ruby-fiber off", "help ruby-bt"] * 2).freeze

  # Fifty commands, including errors, while everything that GDB can do to a
  # process is forbidden.
  def self.untouched(test, _ruby, debugger, program)
    script = program.file("sums.gdb")
    File.write(script, SUMS)
    before = program.files + ["source #{script}", "attach #{program.pid}", "set may-call-functions off", "set may-write-registers off",
                              "set may-write-memory off", "set may-insert-breakpoints off"]
    told = debugger.run(["python print(sums())", *FIFTY, "thread 1", "python print(sums())", "detach"], before: before)
    test.same("memory and registers", told[0], told[-2].lines.last)
    test.fail("no sum: #{told[0]}") unless told[0] =~ /\A\h{64}\n\z/
    FIFTY.zip(told.drop(1)) { |line, text| test.fail("#{line}: #{text}") if text =~ /Traceback|Python Exception|unexpected/ }
    test.fail("nothing was shown: #{told[1]}") unless told[1].include?("T1.F1")
    program.goes_on?
  end

  IDS = 'python print(" ".join("%s=%s/%s" % (f["id"], f["address"], f.get("object")) for f in ' \
        'json.loads(gdb.execute("ruby-fibers --json", to_string=True))["fibers"]))'

  # From stop to stop, a fiber keeps its id.
  def self.ids(test, _ruby, debugger, program)
    rounds = 12
    commands = ["python import json", "break rb_obj_freeze", "continue", IDS] + ["continue 6", IDS] * (rounds - 1)
    told = debugger.run(commands, before: program.files + ["attach #{program.pid}"])
    seen = {}
    maps = told.drop(3).each_slice(2).map { |text,| text.scan(/(\S+)=(\S+)/).to_h }
    maps.each do |map|
      test.fail("no fibers at a stop: #{told}") if map.size < 5
      map.each do |id, fiber|
        test.same("fiber #{id}", seen[id], fiber) if seen.key?(id)
        seen[id] = fiber
      end
      test.same("ids of one stop", map.size, map.values.uniq.size)
    end
    test.fail("no fiber began or ended") if maps.first.keys == maps.last.keys
    program.goes_on?
  end

  # The condition is true only for 3, whose VALUE is 7. GDB does not stop for
  # others.
  def self.conditions(test, ruby, debugger, program)
    commands = ["break rb_obj_freeze if $ruby_self() == 7", "continue", "print $ruby_self()", "ruby-bt --frame 0", "continue", "print $ruby_self()"]
    told = debugger.run(commands, before: program.files + ["attach #{program.pid}"])
    test.same("self", "$1 = 7\n", told[2])
    test.fail("frame: #{told[3]}") unless told[3] =~ /#freeze/
    test.same("self at the next stop", "$2 = 7\n", told[5])
    program.goes_on?
  end

  PARKED = 'python import json; gdb.execute("ruby-fiber " + next(f["id"] for f in json.loads(gdb.execute(' \
           '"ruby-fibers --json", to_string=True))["fibers"] if f["status"] == "suspended"))'

  # One thread is stopped, the other runs.
  def self.non_stop(test, _ruby, debugger, program)
    commands = ["info threads", "ruby-threads", "ruby-bt", "ruby-fibers", "thread 2", "ruby-bt", "bt 1", "thread 1", PARKED, "bt 1"]
    told = debugger.run(commands, before: program.files + ["set non-stop on", "attach #{program.pid}"])
    test.fail("threads: #{told[1]}") unless told[1] =~ /^T1 .*^T2 /m
    test.fail("stack: #{told[2]}") unless told[2].include?("<main>")
    test.fail("report: #{told[3]}") unless told[3].include?("T1.F1")
    if told[0].include?("(running)")
      test.same("a thread that runs", "rcore: the process is running; stop it with interrupt\n", told[5])
      test.fail("bt of a thread that runs: #{told[6]}") if told[6] =~ /rcore|Python/
    end
    test.fail("bt of a fiber: #{told[8]}#{told[9]}") unless told[9].start_with?("#1 ")
  end

  # The parent and the child are two inferiors.
  def self.forks(test, _ruby, debugger, program)
    commands = ["catch fork", "run", "delete", "tbreak rb_obj_freeze", "continue", "ruby-bt", "inferior 1", "ruby-bt", "inferior 2", "ruby-bt"]
    settings = ["set detach-on-fork off", "set follow-fork-mode child", "set print inferior-events off", "cd #{File.dirname(program.file('pid'))}"]
    told = debugger.run(commands, ["--args", *program.command_line("fork")], before: settings)
    test.fail("the child: #{told[5]} after #{told[0..4].inspect}") unless told[5].include?("fork_once") && told[5].include?("stop_here")
    test.fail("the parent: #{told[7]}") unless told[7].include?("fork_once") && !told[7].include?("stop_here")
    test.same("the child again", told[5], told[9])
  end

  # Two processes, and a program without Ruby.
  def self.inferiors(test, ruby, debugger, program)
    plain = Process.spawn("sleep", "1000")
    Program.new(ruby).run do |second|
      commands = ["ruby-threads", "add-inferior", "inferior 2", "ruby-threads", "attach #{second.pid}", "ruby-threads", "inferior 1", "ruby-threads",
                  "add-inferior", "inferior 3", "attach #{plain}", "ruby-threads", "bt 1", "detach", "remove-inferiors 3", "inferior 1", "ruby-threads"]
      told = debugger.run(commands, before: program.files + ["attach #{program.pid}"])
      test.fail("the first: #{told[0]}") unless told[0].include?("LWP #{program.pid} ")
      test.same("an empty one", "rcore: there is no process; use core-file CORE or attach PID, and try again\n", told[3])
      test.fail("the second: #{told[5]}") unless told[5].include?("LWP #{second.pid} ")
      test.same("the first again", told[0], told[7])
      test.fail("no Ruby: #{told[11]}") unless told[11] =~ /\Arcore: not a Ruby process: [^\n]*\n\z/
      test.same("the first at last", told[0], told[16])
    end
  ensure
    Child.stop(plain)
  end

  # Ctrl-C at any moment of a command: the next one works.
  def self.interrupt(test, _ruby, debugger, program)
    strike = "python import threading, os, signal; threading.Timer(%f, lambda: os.kill(os.getpid(), signal.SIGINT)).start()"
    commands = (1..12).flat_map { |step| ["set var $x = 1", "flushregs", strike % (step * 0.01), "ruby-fibers", "shell sleep 0.2"] }
    told = debugger.raw(commands + ["shell sleep 1", "ruby-threads", "echo === last\\n", "ruby-threads"], before: program.files + ["attach #{program.pid}"])
    test.fail("at last: #{told}") unless told[/=== last\n.*/m].to_s.include?("LWP #{program.pid} ")
    test.fail("never interrupted: #{told}") unless told.include?("Quit")
    test.fail(told) if told =~ /unexpected|ctypes|rcore_\w+\.py/
    program.goes_on?
  end
end
