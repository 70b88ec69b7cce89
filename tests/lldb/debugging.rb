# SPDX-License-Identifier: MIT
require "fileutils"
require "io/wait"
require "pty"
require_relative "lldb"
require_relative "program"
require_relative "../plugin/native"
require_relative "../plugin/living"

# Kinds of debugging with LLDB: a program that it starts and that forks, several targets, Ctrl-C. The
# first two on the machine's own Ruby.
class Debugging
  LIVING = File.expand_path("../plugin/programs/living/main.rb", __dir__)

  def initialize(lldb, rcore, ruby)
    @lldb, @rcore, @ruby = lldb, rcore, ruby
  end

  # LLDB follows the child, whose fibers are those of the parent, except the
  # other thread's.
  def forks
    Dir.mktmpdir("rcore-tests.") do |folder|
      FileUtils.cp(LIVING, folder)
      before = ["target create #{@ruby.program}", "settings set -- target.run-args main.rb fork", "breakpoint set -n fork", "process launch -w #{folder}"]
      commands = ["ruby-threads", "ruby-bt", "ruby-fiber T1.F1", "@pcs", "breakpoint delete 1", "breakpoint set -n rb_obj_freeze",
                  "settings set target.process.follow-fork-mode child", "@run_to_breakpoint", "ruby-threads", "ruby-bt", "ruby-fiber T1.F1", "@pcs",
                  "ruby-fiber off", "@run_to_breakpoint", "ruby-fiber", "process kill"]
      answers = @lldb.bare(@rcore, before, commands)
      threads, bt, _, pcs = answers
      stopped, childs, child, _, child_pcs, _, again, fiber = answers.drop(7)
      pids = [threads, childs].map { |answer| answer.output[/^T1  LWP (\d+)/, 1] }
      [
        [threads.output.scan(/^T\d/).size == 2, "threads of the parent: #{threads.output}#{threads.error}"],
        [bt.output.include?("fork_once") && !bt.output.include?("stop_here"), "the parent: #{bt.output}#{bt.error}"],
        [stopped.value.nil? && again.value.nil?, "#{stopped.value}#{again.value}"],
        [childs.output.scan(/^T\d/).size == 1 && pids.uniq.size == 2, "threads of the child: #{childs.output}#{childs.error}"],
        [child.output.include?("fork_once") && child.output.include?("stop_here"), "the child: #{child.output}#{child.error}"],
        [pcs.value.size > 4 && pcs.value == child_pcs.value, "a fiber: #{child_pcs.value} in the child, not #{pcs.value}"],
        [fiber.output == "fiber T1.F0, run by this thread\n", "later: #{fiber.output}#{fiber.error}"],
      ].reject(&:first).map(&:last)
    end
  end

  # What threads wait for, as in the shell: LLDB knows no orig_rax.
  def waits
    lldb, rcore, ruby = @lldb, @rcore, @ruby
    Case.new("waits") do
      Living.waits(self, ruby) { |program| lldb.bare(rcore, ["process attach -p #{program.pid}"], ["ruby-waits"]).first.output }
    end.run
  end

  # Two cores, a process and a program that does not run, in one LLDB.
  def targets(core)
    native = NativeCore.new(@ruby)
    program = Program.new(@ruby, "turns")
    cores = [core, native.path]
    before = cores.map { |path| "target create #{@ruby.program} --core #{path}" } +
             ["target create #{@ruby.program}", "process attach -p #{program.pid}", "target create #{@ruby.program}"]
    wanted = cores.map { |path| Open3.capture2(@rcore, "threads", path).first }
    commands = ["ruby-threads", "target select 0", "ruby-threads", "ruby-fiber T1.F1", "target select 1", "ruby-threads", "ruby-fiber", "target select 2",
                "ruby-threads", "ruby-fiber T1.F2", "ruby-fiber", "target select 0", "ruby-fiber", "target select 1", "ruby-fiber", "target select 2", "ruby-fiber", "detach"]
    told = commands.zip(@lldb.bare(@rcore, before, commands)).reject { |command,| command.start_with?("target") }.map { |_, answer| answer.output + answer.error }
    none, first, one, second, current, third, two, twice, one_again, current_again, two_again = told
    [
      [none == "error: rcore: there is no process; use target create -c CORE or process attach, and try again\n", "no process: #{none}"],
      [[first, second] == wanted, "two cores: #{[first, second]}, not #{wanted}"],
      [third =~ /\AT1  LWP #{program.pid} /, "the process: #{third}"],
      [one.start_with?("fiber T1.F1, parked") && one_again == one, "a fiber of the first: #{one}#{one_again}"],
      [current == current_again && current.include?("run by this thread"), "no fiber of the second: #{current}#{current_again}"],
      [two.start_with?("fiber T1.F2, parked") && [twice, two_again].uniq == [two], "a fiber of the process: #{two}#{twice}#{two_again}"],
      [program.alive?, "the process is dead"],
    ].reject(&:first).map(&:last)
  ensure
    program&.close
    native&.remove
  end

  ROUNDS, READS = 60, 10

  # Ctrl-C while a command reads, until one was interrupted; then all works.
  def interrupt
    program = Program.new(@ruby, "parked")
    told = +""
    environment = { "RCORE_LIBRARY" => File.join(File.dirname(@rcore), "librcore.so.0"), "TERM" => "dumb", "PYTHONDONTWRITEBYTECODE" => "1" }
    script = File.expand_path("../../lldb/rcore_lldb.py", __dir__)
    PTY.spawn(environment, "lldb-19", "--no-lldbinit", "-o", "command script import #{script}", "-o", "process attach -p #{program.pid}") do |out, input, pid|
      ask(told, out, input, "script 1")
      ROUNDS.times do |round|
        break if told.include?("rcore: interrupted")
        # Other files: everything is read anew.
        READS.times do |read|
          input.puts "script rcore_lldb.look_in(lib_search_path='/nonexistent/#{round}/#{read}')", "ruby-fibers --all"
        end
        10.times { sleep 0.04; Process.kill(:INT, pid) }
        ask(told, out, input, "script 1")
      end
      told << "=== last\n"
      ask(told, out, input, "ruby-threads")
      input.puts "quit"
      input.puts "y"
    end
    [
      [told.include?("error: rcore: interrupted"), "never interrupted"],
      [ours(told).empty?, "at Ctrl-C: #{ours(told).first}"],
      [told[/=== last.*/m] =~ /\bT1  LWP #{program.pid} /, "at last: #{told[/=== last.*/m]}"],
      [program.alive?, "the process is dead"],
    ].reject(&:first).map(&:last)
  ensure
    program&.close
  end

  private

  # What was printed in place of "interrupted". A line of Python that the user
  # types ("<input>") is interrupted as Python does it, and LLDB may raise
  # Ctrl-C late, in its own code ("<string>").
  def ours(told)
    told.gsub(/^.*Traceback.*\s+(?:File "<input>"(?:.*\s+)+?|(?:File "<string>".*\s+)+)KeyboardInterrupt/, "").scan(/^.*(?:Traceback|unexpected|ctypes).*(?:\s+ .*)*/)
  end

  # Returns when LLDB has printed what is printed after the command. A late
  # Ctrl-C may have stopped that, too.
  def ask(told, out, input, command)
    @marks = (@marks || 0) + 1
    input.puts command
    6.times do
      input.puts "script print('ma' 'rk %d.' % #{@marks})"
      ends = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 10
      until told.include?("mark #{@marks}.") || (left = ends - Process.clock_gettime(Process::CLOCK_MONOTONIC)) <= 0
        told << out.readpartial(65_536).scrub if out.wait_readable(left)
      end
      return if told.include?("mark #{@marks}.")
    end
    raise "LLDB no longer answers: #{told.lines.last(20).join}"
  end
end
