# SPDX-License-Identifier: MIT

# One look at a process stops each of its kernel threads once. If the copy that was made ahead lacks something, rcore
# stops the process again, for much longer; that may happen if the process runs, but not each time.
module StoppedOnce
  LOOKS = 5
  ATTEMPTS = 10

  # How many contexts each program has where the gem ruby-profiler can be loaded.
  PROGRAMS = { "applied.rb" => 20 * 11, "descending.rb" => 0 }.freeze

  def self.cases(rubies)
    rubies.flat_map do |ruby|
      [LiveCase.new("stopped last #{ruby.name}") { StoppedOnce.order(self, ruby) }] + PROGRAMS.map { |program, contexts| LiveCase.new("stopped once #{program} #{ruby.name}") { StoppedOnce.look(self, ruby, program, contexts) } }
    end
  end

  def self.look(test, ruby, program, contexts)
    test.with_program(ruby, program) do |pid, counter|
      stops = Array.new(LOOKS) { stops_of(test, ruby, pid, contexts) }
      test.fail("stops of the main thread in #{LOOKS} looks: #{stops}") if stops.count(1) * 2 < LOOKS
      test.goes_on(counter)
      test.note = "stops: #{stops.join(", ")}"
    end
  end

  # A thread that works stands still for less time than those that sleep anyway: it is stopped last, and goes on first.
  def self.order(test, ruby)
    test.with_program(ruby, "one_works.rb") do |pid, counter|
      wrong = Array.new(LOOKS) { order_of(test, pid) }.reject(&:empty?)
      test.fail("#{wrong.size} of #{LOOKS} looks: #{wrong.first}") if wrong.size * 2 > LOOKS
      test.goes_on(counter)
    end
  end

  # Returns what was wrong.
  def self.order_of(test, pid)
    report, calls = traced(test, pid)
    sleepers = report["threads"].select { |thread| thread["name"].to_s.start_with?("sleeper") }.map { |thread| thread["tid"] }
    test.same("threads that sleep", 8, sleepers.size)
    stopped, released = %w[INTERRUPT DETACH].map { |call| calls.grep(/PTRACE_#{call}, /).map { |line| line[/PTRACE_#{call}, (\d+)/, 1].to_i } }
    late = sleepers.select { |tid| stopped.index(tid) > stopped.index(pid) }
    early = sleepers.select { |tid| released.index(tid) < released.index(pid) }
    [*("stopped after the thread that works: #{late}" if late.any?), *("released before it: #{early}" if early.any?)]
  end

  # Returns the report, and the lines that strace wrote.
  def self.traced(test, pid)
    calls = File.join(test.folder, "calls")
    out = err = ""
    status = nil
    # strace makes rcore slow, and a busy machine does: then it may reach the limit of a stop, and says so.
    ATTEMPTS.times do
      out, err, status = Open3.capture3(*LiveCase::ROOT, "strace", "-f", "-e", "trace=ptrace", "-o", calls, Suite::RCORE, "analyze", "--json", "-p", pid.to_s)
      break unless [out, err].any? { |text| text.match?(LiveCase::BUSY) }
    end
    raise Debuggee::Failed, "rcore printed nothing (#{status}): #{err}" if out.empty?
    [JSON.parse(out, max_nesting: false), File.readlines(calls)]
  end

  def self.stops_of(test, ruby, pid, profiled)
    report, calls = traced(test, pid)
    contexts = report["fibers"].count { |fiber| fiber["context"].to_s.include?("request ") }
    wanted = ruby.version < Gem::Version.new("3.2") ? 0 : profiled
    test.same("fibers with a context", wanted, contexts)
    calls.grep(/PTRACE_INTERRUPT, #{pid}\b/).size
  end
end
