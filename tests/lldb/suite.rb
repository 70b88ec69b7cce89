# SPDX-License-Identifier: MIT
require "digest"
require "etc"
require_relative "../aarch64/emulated"
require_relative "converted"
require_relative "lldb"
require_relative "debugging"
require_relative "program"
require_relative "values"

class LldbSuite
  MAX_TID = 4_194_304 # of Linux

  # The Ruby that all LLDBs are tried on.
  SHORT = "3.1"

  # Commands in LLDB, and the words of the shell commands that print the same.
  SAME = {
    "ruby-fibers" => %w[analyze],
    "ruby-fibers --all --native=all --verbose" => %w[analyze --all --native=all --verbose],
    "ruby fibers --json" => %w[analyze --json],
    "ruby-fibers --thread T2" => %w[analyze --thread T2],
    "ruby-threads" => %w[threads],
    "ruby-state" => %w[state --stacks],
    "ruby-state --lines" => %w[state],
    "ruby-state T1.F0 T1.F1" => %w[state T1.F0 T1.F1],
    "ruby state --where user_id=42 --json" => %w[state --where user_id=42 --json],
    "ruby-fibers --fiber T1.F0 --self --locals" => %w[analyze --fiber T1.F0 --self --locals],
    "ruby-explain" => %w[explain],
    "ruby-waits" => %w[waits],
    "ruby waits --json" => %w[waits --json],
    "ruby-print RUBY_VERSION FIBERS" => %w[print RUBY_VERSION FIBERS],
    "ruby-doctor" => %w[doctor],
    "ruby-heap --limit 5" => %w[heap --limit 5],
    "ruby-heap retained --limit 3" => %w[heap retained --limit 3],
    "ruby heap verify --json" => %w[heap verify --json],
    "ruby-locals --fiber T1.F0" => %w[locals --fiber T1.F0],
    "ruby-exception --fiber T1.F4" => %w[exception --fiber T1.F4],
    "ruby-bt --fiber T1.F2" => %w[bt --fiber T1.F2],
    "ruby-bt --fiber T1.F0 --native=all" => %w[bt --fiber T1.F0 --native=all],
  }.freeze

  WRONG = {
    "ruby-fibers --bogus" => "unknown option '--bogus'; see help ruby-fibers",
    "ruby-fibers --thread T99" => "there is no thread T99",
    "ruby-fiber T9.F9" => "there is no fiber T9.F9",
    "ruby-fiber off" => "no fiber is selected",
    "ruby-fiber a b" => "name one fiber",
    "ruby-fibers 'T1" => "No closing quotation",
    "ruby-down" => "frame 0 is the innermost",
    "ruby-up x" => "accepts one number",
  }.freeze

  def initialize(rcore, rubies)
    @rcore, @rubies = rcore, rubies
    @passed = @failed = 0
    # By core and command: what the shell prints.
    @expected = {}
  end

  # Returns the exit status.
  def run
    $stdout.sync = true
    missing = @rubies.map(&:missing).compact
    abort missing.map { |line| "tests/lldb/run: #{line}" }.join("\n") unless missing.empty?
    newest, *older = Lldb.all
    @rubies.each { |ruby| with(ruby) { |program| [newest, *(older if ruby.name == SHORT)].each { |lldb| all(lldb, ruby, program) } } }
    @rubies.each { |ruby| values(ruby, newest, *older) }
    once(newest) if @rubies.any? { |ruby| ruby.name == SHORT }
    # LLDB cannot start a Ruby that is in a folder to chroot into, nor find its files by their paths.
    @rubies.select { |ruby| ruby.root.empty? }.each { |ruby| check("#{ruby.name} forks") { Debugging.new(newest, @rcore, ruby).forks } }
    @rubies.select { |ruby| ruby.root.empty? }.each { |ruby| check("#{ruby.name} #{newest.name} waits") { Debugging.new(newest, @rcore, ruby).waits } }
    @rubies.each { |ruby| check("#{ruby.name} #{newest.name} breakpoint") { on_breakpoint(newest, ruby) } }
    @rubies.each { |ruby| check("#{ruby.name} #{newest.name} turns") { on_turns(newest, ruby) } }
    puts "#{@passed} passed, #{@failed} failed"
    @failed.zero? ? 0 : 1
  end

  private

  def values(ruby, newest, *older)
    values = Values.new(ruby)
    [newest, *(older if ruby.name == SHORT)].each { |lldb| check("#{ruby.name} #{lldb.name} values") { values.differences(lldb, @rcore) } }
    check("#{ruby.name} #{newest.name} values of a process") { values.of_process(newest, @rcore) }
  ensure
    values&.close
  end

  # What does not depend on a Ruby.
  def once(lldb)
    check("nothing there") { nothing_there(lldb) }
    check("interrupt") { Debugging.new(lldb, @rcore, @rubies.first).interrupt }
    check("aarch64") { on_arm(lldb, EmulatedRuby.new(SHORT)) }
  end

  def with(ruby)
    program = Program.new(ruby)
    @files = ruby.files
    @report = JSON.parse(shell(%w[analyze --json], program.core), max_nesting: false)
    parked = @report["fibers"].select { |fiber| fiber["status"] == "suspended" }
    # For the lost ones, gdb saved zeroes in place of the stack.
    @parked, lost = parked.partition do |fiber|
      !fiber["native_problem"] && fiber["native"]&.all? { |frame| frame["inlined"] || frame["pc"] }
    end
    @lost = lost.map { |fiber| fiber["id"] }
    check("#{ruby.name} core") { lost.empty? || program.lost? ? [] : ["no stack of #{lost.map { |fiber| fiber["id"] }}"] }
    @unbegun = @report["fibers"].find { |fiber| fiber["status"] == "created" }["id"]
    @wrong = WRONG.merge("ruby-fiber #{@unbegun}" => "has no stack to select")
    @living = living_text(program)
    check("#{ruby.name} starting") { starting(program) } if ruby.name == SHORT
    check("#{ruby.name} converted") { Converted.new(@rcore, ruby, program, @report, @parked).differences }
    check("#{ruby.name} targets") { Debugging.new(Lldb.all.first, @rcore, ruby).targets(program.core) } if ruby.root.empty?
    yield program
  ensure
    program&.close
  end

  def all(lldb, ruby, program)
    check("#{ruby.name} #{lldb.name} core") { on_core(lldb, program) }
    check("#{ruby.name} #{lldb.name} process") { on_process(lldb, program) }
    check("#{ruby.name} #{lldb.name} remote") { on_remote(lldb, ruby, program) } if lldb.server
  end

  def check(name)
    differences = yield
    differences.empty? ? @passed += 1 : @failed += 1
    puts "#{differences.empty? ? "ok   " : "FAIL "} #{name}"
    differences.first(10).each { |line| puts "      #{line}" }
  rescue Lldb::Failed, RuntimeError => error
    @failed += 1
    puts "FAIL  #{name}: #{error.message}"
  end

  def shell(words, *target)
    # A subcommand precedes the core.
    command = words.take(words[0] == "heap" && !words[1].start_with?("-") ? 2 : 1)
    out, = Open3.capture2({ "TERM" => "dumb" }, @rcore, *command, *target, *@files, *words.drop(command.size))
    out.force_encoding("UTF-8")
  end

  def target(program)
    [program.core, *@files]
  end

  def on_core(lldb, program)
    answers = lldb.run(@rcore, target(program), [*SAME.keys, *@wrong.keys, *selections, *SAME.keys, "help ruby"])
    same(answers.shift(SAME.size), program) + wrong(answers.shift(@wrong.size)) +
      selected(answers.shift(selections.size), program) +
      # The second time, the session has seen errors and selected fibers.
      same(answers.shift(SAME.size), program) + helps(lldb, program, answers.last)
  end

  def same(answers, program)
    answers.flat_map do |answer|
      expected = (@expected[program.core] ||= {})[answer.command] ||= shell(SAME[answer.command], program.core)
      next [] if answer.output == expected && answer.error.empty?
      ["#{answer.command}: #{first_difference(expected, answer.output)}#{answer.error}"]
    end
  end

  def first_difference(expected, seen)
    left, right = expected.lines, seen.lines
    at = (0..left.size).find { |index| left[index] != right[index] }
    at ? "line #{at + 1} is #{right[at].inspect}, not #{left[at].inspect}" : ""
  end

  def wrong(answers)
    answers.flat_map do |answer|
      next [] if answer.error.lines.size == 1 && answer.error.start_with?("error: rcore: ") && answer.error.include?(@wrong[answer.command])
      ["#{answer.command}: #{answer.error.inspect}, not a line with #{@wrong[answer.command].inspect}"]
    end
  end

  def selections
    @parked.flat_map { |fiber| ["ruby-fiber #{fiber["id"]}", "@pcs", "ruby-bt", "ruby-fiber"] } +
      ["@next", "ruby-fiber", "up", "register read", "thread list", "ruby-fiber off", "@tid", "ruby-fiber"]
  end

  def selected(answers, program)
    stacks = answers.shift(4 * @parked.size).each_slice(4).zip(@parked).flat_map do |(selection, pcs, bt, told), fiber|
      native = pcs_of(fiber)
      problems = []
      problems << selection.error unless selection.error.empty?
      problems << "#{fiber["id"]}: bt is #{pcs.value}, not #{native}" if pcs.value != native
      problems << "#{fiber["id"]}: ruby-bt differs" if program && bt.output != shell(%W[bt --fiber #{fiber["id"]}], program.core)
      problems << "#{fiber["id"]}: ruby-fiber says #{told.output.inspect}" unless told.output.start_with?("fiber #{fiber["id"]}, parked")
      problems
    end
    other, followed, up, registers, list, _, left, back = answers
    problems = []
    problems << "thread select of #{other.value}: #{followed.output}#{followed.error}" unless followed.output.start_with?("fiber #{other.value}, parked")
    problems << "up: #{up.error}" unless up.output.include?("frame #1") || @lost.include?(other.value)
    problems << "register read: #{registers.output}" unless registers.output =~ /\bsp = 0x|rsp = 0x/
    @parked.each { |fiber| problems << "thread list lacks #{fiber["id"]}" unless list.output.include?("'#{fiber["id"]}'") }
    problems << "after off thread #{left.value} is selected" if left.value > MAX_TID
    problems << "after off: #{back.output}#{back.error}" unless back.output =~ /\Afiber T\d+\.F\d+, run by this thread\n\z/
    stacks + problems
  end

  def helps(lldb, program, overview)
    verbs = overview.output.scan(/^ +([a-z]+) +-- /).flatten
    return ["help ruby lists #{verbs}"] if verbs.size < 8
    lldb.run(@rcore, target(program), verbs.map { |verb| "help ruby-#{verb}" }).zip(verbs).flat_map do |answer, verb|
      whole = answer.output.include?("Usage: ruby-#{verb}") && answer.output =~ /Examples:\n\n +\(lldb\) ruby-#{verb}/
      whole ? [] : ["help ruby-#{verb}: #{answer.output}#{answer.error}"]
    end
  end

  # Returns the report of threads, without the lines about the process before it.
  def living_text(program)
    out, = Open3.capture2({ "TERM" => "dumb" }, @rcore, "analyze", "--all", "--native=all", "-p", program.pid.to_s)
    threads_of(out.force_encoding("UTF-8"))
  end

  def threads_of(text)
    text[/^T1 .*/m].to_s
  end

  def on_process(lldb, program)
    program.settle
    differences = living(lldb.run(@rcore, ["-p", program.pid.to_s, *@files], living_commands))
    differences << "the process is dead" unless program.alive?
    differences
  end

  def living_commands
    ["@memory", "ruby-fibers --all --native=all", *selections, *(@wrong.keys * 3), "ruby-fiber T1.F2", "ruby-fibers --all --native=all", "@memory", "@continue", "ruby-fibers", "@stop",
     "ruby-fibers --all --native=all", "ruby-fiber", "@all_pcs", *selections, "detach"]
  end

  def living(answers)
    before, all, *rest = answers
    differences = living_report(all)
    differences += selected(rest.shift(selections.size), nil) + wrong(rest.shift(3 * @wrong.size))
    _, again, after, gone_on, running, stopped, later, fiber, threads, *selections = rest
    differences += [gone_on.value, stopped.value].compact
    differences += living_report(again) + living_report(later)
    differences += selected(selections, nil)
    differences << "memory was written to" unless before.value == after.value
    differences << "while it runs: #{running.error}" unless running.error.include?("the process is running; stop it")
    differences << "a fiber is selected after the process ran: #{fiber.output}#{fiber.error}" unless fiber.output.include?("run by this thread")
    differences << "fibers are threads after the process ran" if threads.value.keys.any? { |tid| tid.to_i > MAX_TID }
    differences
  end

  def living_report(answer)
    seen = threads_of(answer.output)
    seen == @living && !seen.empty? ? [] : ["#{answer.command} of the process: #{first_difference(@living, seen)}#{answer.error}"]
  end

  def on_remote(lldb, ruby, program)
    lldb.serve(program.pid) do |port|
      commands = ["ruby-fibers --all --native=all", *selections, "detach"]
      files = ruby.root.empty? ? [] : ["target create #{ruby.outside(ruby.program)}", "target modules search-paths add / #{ruby.root}/"]
      answers = lldb.bare(@rcore, [*files, "gdb-remote 127.0.0.1:#{port}"], commands)
      living_report(answers.shift) + selected(answers.shift(selections.size), nil)
    end
  end

  STOPS = 'return rcore_lldb.ruby_state("number", frame) % 7 == 0 and rcore_lldb.ruby_local("even", frame)'.freeze
  KNOWN = '[rcore_lldb.ruby_local(name) for name in ("user_id", "name", "ratio", "symbol", "even")]'.freeze

  def on_breakpoint(lldb, ruby)
    program = Program.new(ruby, "calls")
    answers = lldb.run(@rcore, ["-p", program.pid.to_s, *ruby.files],
                       ["breakpoint set -n getpgid", "breakpoint command add -s python -o '#{STOPS}' 1", "@run_to_breakpoint",
                        "script import json; print(json.dumps(#{KNOWN}))", "script print([rcore_lldb.ruby_self(), rcore_lldb.ruby_cfp(), rcore_lldb.ruby_fiber(), rcore_lldb.ruby_ec()])",
                        "script print([rcore_lldb.ruby_state(key) for key in ('none', 'number', 'tenant')])", "ruby-fibers --json --fiber T1.F0", "script rcore_lldb.ruby_local('none')", "breakpoint delete 1", "detach"])
    _, _, stopped, known, addresses, state, json, = answers
    return [stopped.value] if stopped.value
    known = JSON.parse(known.value)
    id, = known
    differences = []
    expected = [id, "user \"#{id}\"\n", 0.5, "u\u00e9#{id % 3}", true]
    differences << "locals are #{known}, not #{expected}" unless known == expected && (id % 14).zero?
    fiber, = JSON.parse(json.output)["fibers"]
    seen = fiber["frames"][0].values_at("self", "cfp") + fiber.values_at("address", "ec")
    differences << "addresses are #{addresses.value}, not #{seen}" unless JSON.parse(addresses.value) == seen.map(&:hex)
    differences << "the state is #{state.value}" unless state.value == "[None, #{id}, 't\u00e9']\n"
    differences << "the process is dead" unless program.alive?
    differences
  ensure
    program&.close
  end

  CONDITIONS = {
    'rcore_lldb.ruby_state("user_id", frame) == 42' => 42,
    'rcore_lldb.ruby_state("name", frame) == "user 43"' => 43,
    'rcore_lldb.ruby_local("label", frame) == "turn 44"' => 44,
  }.freeze
  TURN = 'script print(json.dumps([rcore_lldb.ruby_state("user_id"), rcore_lldb.ruby_state("name"), rcore_lldb.ruby_local("round")]))'.freeze

  # Conditions that are true for one fiber only: LLDB stops at each turn of that
  # fiber, and of no other.
  def on_turns(lldb, ruby)
    program = Program.new(ruby, "turns")
    one = ["@run_to_breakpoint", TURN, "ruby-fiber"]
    lines = CONDITIONS.keys.each_with_index.flat_map do |condition, at|
      ["breakpoint set -n getpgid", "breakpoint command add -s python -o 'return #{condition}' #{at + 1}", *one * 3, "breakpoint delete #{at + 1}"]
    end
    answers = lldb.run(@rcore, ["-p", program.pid.to_s, *ruby.files], [*lines, "detach"])
    problems = CONDITIONS.flat_map do |condition, user|
      stops = answers.shift(3 * one.size + 3)[2..-2].each_slice(one.size).to_a
      lost = stops.map { |stop,| stop.value }.compact
      next lost unless lost.empty?
      seen = stops.map { |_, turn,| JSON.parse(turn.value) }
      wanted = Array.new(3) { |later| [user, "user #{user}", seen[0][2] + later] }
      fibers = stops.map { |stop| stop.last.output }.uniq
      seen == wanted && fibers.size == 1 ? [] : ["#{condition}: #{seen} of #{fibers}"]
    end
    problems << "the process is dead" unless program.alive?
    problems
  ensure
    program&.close
  end

  # A core of another machine, as it is and converted.
  def on_arm(lldb, ruby)
    return [ruby.missing] if ruby.missing
    Dir.mktmpdir("rcore-tests.") do |folder|
      FileUtils.cp([File.join(__dir__, "parked/main.rb"), File.join(__dir__, "context.rb")], folder)
      pid = Process.spawn(*ruby.command(["-W0", "main.rb"], directory: folder, environment: { "ENDING" => "abort" }),
                          rlimit_core: Process::RLIM_INFINITY, %i[out err] => File::NULL)
      Child.wait(pid)
      core = Dir[File.join(folder, "qemu_*.core")].first or next ["the emulator left no core"]
      @files = ruby.files
      @report = JSON.parse(shell(%w[analyze --json], core))
      @parked = @report["fibers"].select { |fiber| fiber["status"] == "suspended" }
      @lost = []
      out = File.join(folder, "converted")
      table, status = Open3.capture2e(@rcore, "convert", "--fibers-as-threads", core, *@files, "-o", out)
      next ["convert: #{table}"] unless status.success?
      executable, _, root = @files
      converted, = lldb.opened(out, executable, root, ["@all_pcs"])
      stacks = converted.value.values.to_h
      problems = @parked.reject { |fiber| stacks[fiber["id"]] == pcs_of(fiber) }.map { |fiber| "converted: #{fiber["id"]} is #{stacks[fiber["id"]]}, not #{pcs_of(fiber)}" }
      problems + selected(lldb.run(@rcore, [core, *@files], selections), nil)
    end
  end

  def pcs_of(fiber)
    fiber["native"].reject { |frame| frame["inlined"] }.map { |frame| frame["pc"] }
  end

  # rcore gdb and rcore lldb, and what goes wrong with them.
  def starting(program)
    core = program.core
    nothing = { "PATH" => "/nonexistent", "TERM" => "dumb" }
    none = program.path("none")
    [
      [{}, %w[gdb], 64, /missing CORE/],
      [{}, ["gdb", core, "--bogus"], 64, /unknown option/],
      [{}, %w[lldb -p x-no-such], 64, /no Ruby process has 'x-no-such' in its title/],
      [{}, ["lldb", core, "a", "b"], 64, /unexpected argument .b./],
      [{}, ["gdb", none], 2, /\Arcore: .*no such file.*\n\z/],
      [nothing, ["gdb", core], 2, /\Arcore: gdb is not installed; run apt-get install gdb, or name another one with --debugger\n\z/],
      [nothing, ["lldb", core], 2, /\Arcore: lldb is not installed; .*\n\z/],
      [{}, ["lldb", "--debugger", "/nonexistent/lldb", core], 2, %r{\Arcore: /nonexistent/lldb: No such file or directory\n\z}],
      [{}, ["gdb", core, "--", "-nx", "-batch", "-ex", "ruby-threads"], 0, /^#{Regexp.escape(shell(%w[threads], core))}\z/],
      [{}, ["gdb", "--help"], 0, /Examples:\n\n  rcore gdb core/],
      [{}, ["lldb", "--help"], 0, /Examples:\n\n  rcore lldb core/],
      [{}, ["convert", core], 64, /missing --fibers-as-threads/],
      [{}, ["convert", "--fibers-as-threads", core], 64, /with -o OUT/],
      [{}, ["convert", "--fibers-as-threads", "-p", program.pid.to_s, "-o", none], 64, /unknown option '-p'/],
      [{}, ["convert", "--fibers-as-threads", core, "-o", core], 64, /is the core itself/],
      [{}, ["convert", "--fibers-as-threads", core, "-o", "/nonexistent/core"], 2, /\Arcore: .*No such file or directory\n\z/],
      [{}, ["convert", "--fibers-as-threads", "/dev/null", "-o", none], 2, /\Arcore: .*\n\z/],
      [{}, ["convert", "--help"], 0, /\A(?!.*--?p(?:id|\b)).*Examples:\n\n  rcore convert core/m],
    ].flat_map do |environment, words, status, text|
      out, ended = Open3.capture2e(environment, @rcore, *words, stdin_data: "")
      out.scrub!
      next [] if ended.exitstatus == status && out =~ text && !File.exist?(none)
      ["rcore #{words.join(" ")}: status #{ended.exitstatus}, not #{status}: #{out[0, 300].inspect}"]
    end
  end

  def nothing_there(lldb)
    asleep = Process.spawn("sleep", "60")
    differences = []
    { [] => /there is no process/, ["process attach -p #{asleep}"] => /not a Ruby|no Ruby|Ruby/ }.each do |before, words|
      lldb.bare(@rcore, before, ["ruby-fibers", "ruby-fiber T1.F1", "ruby-threads", "ruby-bt"]).each do |answer|
        next if answer.error.lines.size == 1 && answer.error.start_with?("error: rcore: ") && answer.error =~ words
        differences << "#{answer.command} with #{before}: #{answer.error.inspect}"
      end
    end
    differences
  ensure
    Child.stop(asleep)
  end
end
