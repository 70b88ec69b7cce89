# SPDX-License-Identifier: MIT
require "pty"
require "timeout"
require_relative "cores"

# Tests GDB on a terminal: pages and colors are like GDB's own, and rcore defines
# its aliases unless the user has defined them.
module Terminal
  ESCAPE = "\e[".freeze

  def self.cases(rubies)
    ruby = rubies.find { |one| one.root.empty? }
    core = Cores::Core.new(ruby)
    at_exit { core.remove }
    %w[pages colors aliases].map { |part| Case.new("terminal, #{Debugger.all.first.name}: #{part}") { Terminal.send(part, self, core) } }
  end

  PROGRAM = ["gdb", "-nx", "-q", "-iex", "set debuginfod enabled off", "-iex", "set auto-load off", "-iex", "source #{Debugger::SCRIPT}"].freeze
  ENVIRONMENT = { "RCORE_LIBRARY" => Debugger::LIBRARY, "LC_ALL" => "C.UTF-8", "TERM" => "xterm" }.freeze

  # A GDB on a terminal of its own. `ask` sends keys and returns what arrives
  # until it matches a pattern.
  def self.open(core)
    PTY.spawn(ENVIRONMENT, *PROGRAM, "-iex", "set width 0", "-iex", "set height 15", *core.before.flat_map { |line| ["-iex", line] }) do |out, input, _|
      ask = lambda do |keys, pattern|
        told = +""
        input.write(keys)
        Timeout.timeout(Child::LIMIT) { told << out.readpartial(65_536).scrub until told =~ pattern }
        told
      end
      ask.call("", /\(gdb\) \z/)
      yield ask
      input.puts "kill", "quit"
    end
  end

  PROMPT = /\(gdb\) \z/
  MORE = /--Type <RET> for more.*--\z/

  def self.pages(test, core)
    Terminal.open(core) do |ask|
      first = ask.call("ruby-fibers --all\n", MORE)
      second = ask.call("\n", MORE)
      quit = ask.call("q\n", PROMPT)
      later = ask.call("ruby-threads\n", PROMPT)
      # GDB also prints a warning for each thread, of a machine whose registers it does not know.
      lines = first.lines.grep_v(/warning: (?:Section|Unexpected size of section) `\.reg-xstate/)
      test.fail("the first page: #{first}") unless first.include?("ruby #{core.ruby.version}") && lines.size.between?(12, 16)
      test.fail("the second page: #{second}") if second.lines.size > 17 || second.lines.size < 12
      test.fail("left: #{quit}") unless quit.include?("Quit") && quit !~ /Traceback|Python/
      test.fail("and then: #{later}") unless later =~ /T1.*LWP.*main/
    end
  end

  def self.colors(test, core)
    Terminal.open(core) do |ask|
      test.fail("no color at a terminal") unless ask.call("ruby-threads\n", PROMPT).include?("#{ESCAPE}1mT1")
      ask.call("set style enabled off\n", PROMPT)
      test.fail("color without style") if ask.call("ruby-threads\n", PROMPT).include?("#{ESCAPE}1m")
    end
    out, = Open3.capture2e(ENVIRONMENT, *PROGRAM, stdin_data: [*core.before, "ruby-threads", "quit", ""].join("\n"))
    test.fail("color in a file: #{out.inspect}") if out.include?(ESCAPE) || out !~ /^(?:\(gdb\) )?T1  LWP/
  end

  def self.aliases(test, core)
    mine = %w[define\ rp echo\ mine\\n end]
    script = "#{core.path}.aliases.gdb"
    File.write(script, mine.join("\n"))
    out, = Open3.capture2e(ENVIRONMENT, *PROGRAM.first(7), "-batch", "-iex", "source #{script}", "-iex", "source #{Debugger::SCRIPT}", *core.before.flat_map { |line| ["-ex", line] },
                           "-ex", "rp", "-ex", "rb_ps --fiber T1.F1", "-ex", "rbbt --fiber T1.F1")
    test.fail("rp of the user: #{out}") unless out =~ /^mine$/
    wanted = core.rcore("analyze --fiber T1.F1") + core.rcore("bt --fiber T1.F1")
    test.same("aliases", wanted, out[/^mine\n(.*)/m, 1].to_s.gsub(/^warning:.*\n/, ""))
  ensure
    File.delete(script) if script && File.exist?(script)
  end
end
