# SPDX-License-Identifier: MIT

# One look at a process stops each of its kernel threads once. If the copy that was made ahead lacks something, rcore
# stops the process again, for much longer; that may happen if the process runs, but not each time.
module StoppedOnce
  LOOKS = 5

  # How many contexts each program has where the gem ruby-profiler can be loaded.
  PROGRAMS = { "applied.rb" => 20 * 11, "descending.rb" => 0 }.freeze

  def self.cases(rubies)
    rubies.flat_map do |ruby|
      PROGRAMS.map { |program, contexts| LiveCase.new("stopped once #{program} #{ruby.name}") { StoppedOnce.look(self, ruby, program, contexts) } }
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

  def self.stops_of(test, ruby, pid, profiled)
    calls = File.join(test.folder, "calls")
    out, = Open3.capture2(*LiveCase::ROOT, "strace", "-f", "-e", "trace=ptrace", "-o", calls, Suite::RCORE, "analyze", "--json", "-p", pid.to_s)
    contexts = JSON.parse(out, max_nesting: false)["fibers"].count { |fiber| fiber["context"].to_s.include?("request ") }
    wanted = ruby.version < Gem::Version.new("3.2") ? 0 : profiled
    test.same("fibers with a context", wanted, contexts)
    File.foreach(calls).grep(/PTRACE_INTERRUPT, #{pid}\b/).size
  end
end
