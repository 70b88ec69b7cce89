# SPDX-License-Identifier: MIT
require "pty"
require "io/console"
require "fiddle"

# `rcore top`, as a terminal shows it.
module Screen
  HOME = "\e[H"
  ENTER, LEAVE = "\e[?1049h\e[?25l", "\e[?25h\e[?1049l"

  def self.cases(rubies)
    rubies.flat_map do |ruby|
      [
        SamplerCase.new("top #{ruby.name}") { Screen.keys(self, ruby) },
        SamplerCase.new("top ended #{ruby.name}") { Screen.ended(self, ruby) },
        SamplerCase.new("top children #{ruby.name}") { Screen.children(self, ruby) },
        SamplerCase.new("top wide #{ruby.name}") { Screen.wide(self, ruby) },
      ]
    end + [
      SamplerCase.new("top command") { Screen.command(self, '$stdout.sync = true; puts "SPILT"; warn "\e[2JSPILT"; STDIN.read and warn "SPILT"; sleep 2; puts "end"; exit 3', "rcore: the program ended with exit status 3", "SPILT\n\e[2JSPILT\nSPILT\nend\n") },
      SamplerCase.new("top command twice") { Screen.twice(self) },
      SamplerCase.new("top silent command") { Screen.command(self, "sleep 2", "rcore: the program ended with exit status 0", nil) },
      SamplerCase.new("top killed command") { Screen.command(self, '$stdout.sync = true; print "SPILT"; sleep 2; Process.kill(:KILL, $$)', "rcore: SIGKILL ended the program", "SPILT") },
    ]
  end

  LIBC = Fiddle.dlopen("libc.so.6")
  WCWIDTH = Fiddle::Function.new(LIBC["wcwidth"], [Fiddle::TYPE_INT], Fiddle::TYPE_INT)
  Fiddle::Function.new(LIBC["setlocale"], [Fiddle::TYPE_INT, Fiddle::TYPE_VOIDP], Fiddle::TYPE_VOIDP).call(0, "C.UTF-8") # LC_CTYPE

  # How many columns the C library says that a line takes.
  def self.width(line) = line.each_codepoint.sum { |character| WCWIDTH.call(character) }

  # rcore on a terminal of its own; the block gets it.
  class Terminal
    def initialize(test, rows, columns, *command)
      @test, @output = test, +""
      @master, @input, @pid = PTY.spawn({ "TERM" => "vt100" }, "sh", "-c", 'read line && exec "$@"', "sh", *command.map(&:to_s))
      resize(rows, columns)
      @before = settings
      @input.write("\n")
      @reader = Thread.new { read }
    end

    def read
      @output << @master.readpartial(4096).b while true
    rescue EOFError, Errno::EIO, IOError
      nil
    end

    def resize(rows, columns)
      @rows, @columns = rows, columns
      @master.winsize = [rows, columns]
    end

    def type(keys) = @input.write(keys)

    def settings = IO.popen(["stty", "-g"], in: @master, &:read)

    # Returns the lines of the next screen that the block accepts.
    def wait(what)
      screen = nil
      @test.wait_until("screen with #{what}: #{@output[-500..].inspect}") do
        # The last one may not be whole yet.
        *, screen, _ = @output.split(HOME)
        screen = screen.to_s.dup.force_encoding("UTF-8")
        @test.fail("a character is cut: #{screen.inspect}") unless screen.valid_encoding?
        # After a line of full width, that erases its last character on some terminals.
        @test.fail("erases after a line: #{screen.inspect}") if screen.scrub.match?(/[^\n]\e\[K\r*\n/)
        screen = screen.scrub.gsub(/\e\[[\d;?]*[A-Za-z]/, "").split(/\r*\n/)
        screen.size > 2 && yield(screen)
      end
      @test.fail("#{screen.size} lines of #{@rows}") if screen.size > @rows
      long = screen.map { |line| Screen.width(line) }.max
      @test.fail("a line of #{long} columns of #{@columns}") if long > @columns
      screen
    end

    # What was printed while the screen was shown, and after it.
    def inside = @output[/#{Regexp.escape(ENTER)}(.*)#{Regexp.escape(LEAVE)}/mn, 1].to_s

    def after = @output.split(LEAVE, 2)[1].to_s.delete("\r")

    # Returns the exit status; the terminal is as it was before.
    def close
      status = Child.wait(@pid)
      after = settings
      @reader.join
      @test.fail("the screen was not entered and left: #{@output[-200..].inspect}") unless @output.sub(/\A\s*/, "").start_with?(ENTER)
      @test.fail("the screen was not left: #{@output[-200..].inspect}") unless @output.include?(LEAVE)
      @test.same("settings of the terminal", @before, after)
      [@master, @input].each(&:close)
      status
    ensure
      Child.stop(@pid) unless status
    end

    attr_reader :pid
  end

  def self.keys(test, ruby)
    test.with_program(ruby, "busy_threads.rb", 3) do |pid, _, _|
      [->(terminal) { terminal.type("q") }, ->(terminal) { terminal.type("\x03") }, ->(terminal) { Child.signal(:TERM, terminal.pid) }].each_with_index do |quit, number|
        terminal = Terminal.new(test, 24, 80, Suite::RCORE, "top", "-p", pid, "-r", 50, *ruby.files)
        first = terminal.wait("methods") { |lines| lines.any? { |line| line =~ /block .*in <main>/ } }
        test.fail("no states of threads: #{first}") unless first.count { |line| line =~ /\A *\d+ T\d+ .* busy\z/ } == 3
        look_around(test, terminal) if number.zero?
        quit.call(terminal)
        test.same("exit status", 0, terminal.close.exitstatus)
      end
    end
  end

  def self.look_around(test, terminal)
    # An ordinary terminal shows each key that changes something.
    test.fail("not by self time") unless terminal.wait("by self") { |lines| lines[1].end_with?("cpu time, by self; t: total, a: application, m: wall, q: quit") }
    terminal.type("t")
    terminal.wait("by total") { |lines| lines[1].end_with?("by total; s: self, a: application, m: wall, q: quit") }
    terminal.type("a")
    terminal.wait("methods of the application") { |lines| lines[1].include?("by application") && lines.any? { |line| line =~ /\A *\d+\.\d  block .*in <main>/ } && lines.none? { |line| line.include?("<internal:") || line.include?("Integer#times") } }
    terminal.type("m")
    terminal.wait("wall time") { |lines| lines[1].end_with?("wall time, by application; s: self, t: total, m: cpu, q: quit") }
    terminal.type("s")
    terminal.resize(10, 40)
    terminal.wait("a small size") { |lines| lines.size <= 10 && lines.map(&:size).max <= 40 && lines[1].include?("by self") }
    terminal.resize(50, 200)
    terminal.wait("a large size") { |lines| lines.map(&:size).max > 80 }
    terminal.resize(1, 1)
    sleep 1.5
    terminal.resize(24, 80)
    terminal.wait("the first size") { |lines| lines.map(&:size).max.between?(41, 80) }
  end

  # The program ends, and the terminal shows the shell again.
  def self.ended(test, ruby)
    test.with_program(ruby, "busy_threads.rb", 1) do |pid, _, _|
      terminal = Terminal.new(test, 24, 80, Suite::RCORE, "top", "-p", pid, *ruby.files)
      terminal.wait("methods") { |lines| lines.any? { |line| line.include?("busy") } }
      Child.signal(:KILL, pid)
      test.same("exit status", 0, terminal.close.exitstatus)
      test.same("after the screen", "rcore: the process ended\n", terminal.after)
    end
  end

  # The processes are in a table of their own, and the row of each thread names its process.
  def self.children(test, ruby)
    test.with_program(ruby, "cluster.rb", 3, 20) do |pid, _, folder|
      File.write(File.join(folder, "go"), "")
      terminal = Terminal.new(test, 40, 120, Suite::RCORE, "top", "-p", pid, "--children", *ruby.files)
      row = /\A *(\d+) +[\d.]+ +[\d.]+  (Puma(?: worker \d)?)  puma/
      lines = terminal.wait("each process") { |screen| screen.grep(row).size == 4 && screen.any? { |line| line =~ /\A    PID     TID THREAD/ } }
      found = lines.grep(row).to_h { |line| line.match(row).captures }
      test.same("roles", ["Puma", "Puma worker 0", "Puma worker 1", "Puma worker 2"], found.values.sort)
      workers = lines.grep(/\A *\d+ +\d+ T\d+ /).map { |line| line.split.first }.uniq
      test.fail("threads of #{workers}, not of #{found}") unless (workers - found.keys).empty? && workers.size > 1
      terminal.type("q")
      terminal.close
      test.same("after the screen", "", terminal.after)
    end
  end

  # Names of wide characters, at each width: Terminal#wait counts the columns.
  def self.wide(test, ruby)
    test.with_program(ruby, "wide.rb") do |pid, _, _|
      terminal = Terminal.new(test, 24, 80, Suite::RCORE, "top", "-p", pid, *ruby.files)
      terminal.wait("methods") { |lines| lines.any? { |line| line.include?("Object#") } }
      40.upto(80) do |columns|
        terminal.resize(24, columns)
        terminal.wait("#{columns} columns") { |lines| lines.map { |line| Screen.width(line) }.max.between?(columns - 1, columns) && lines[0].size == columns }
      end
      terminal.type("q")
      terminal.close
      recording = test.record(ruby, pid, "-d", 1)
      texts = [recording.facts["command"], *recording.totals.flat_map { |total| [recording.thread(total)["name"], *recording.stack(total)] }, *recording.processes.map { |each| each["title"] }].compact
      test.same("texts with a part of a character", [], texts.uniq.grep(/\\x|\ufffd/))
    end
  end

  # What a program prints is not on the screen, but in a file.
  def self.command(test, code, ended, output)
    terminal = Terminal.new(test, 24, 80, "env", "TMPDIR=#{test.folder}", Suite::RCORE, "top", "--", RbConfig.ruby, "--disable-gems", "-e", code)
    test.same("exit status", 0, terminal.close.exitstatus)
    test.fail("the program's output is on the screen: #{terminal.inside[0, 400].inspect}") if terminal.inside.match?("SPILT")
    path = terminal.after[/^rcore: the output of the program is in (.*)$/, 1]
    test.same("after the screen", [ended, *("rcore: the output of the program is in #{path}" if output)], terminal.after.lines(chomp: true))
    test.same("the output", output, path && File.binread(path))
    test.same("files", path ? [File.basename(path)] : [], Dir.children(test.folder))
  end

  # A container may use a process id again, while the file of an earlier rcore is still there.
  def self.twice(test)
    2.times do |i|
      terminal = Terminal.new(test, 24, 80, "unshare", "--pid", "--fork", "--mount-proc", "env", "TMPDIR=#{test.folder}", Suite::RCORE, "top", "--", RbConfig.ruby, "--disable-gems", "-e", "puts #{i}; sleep 2")
      test.same("exit status", 0, terminal.close.exitstatus)
    end
    test.same("the files", %W[0\n 1\n], Dir.children(test.folder).map { |name| File.read(File.join(test.folder, name)) }.sort)
  end
end
