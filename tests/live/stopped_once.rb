# SPDX-License-Identifier: MIT

# One look at a process stops each of its kernel threads once. If the copy that was made ahead lacks something, rcore
# stops the process again, for much longer; that may happen if the process runs, but not each time.
module StoppedOnce
  LOOKS = 5

  def self.cases(rubies)
    rubies.map { |ruby| LiveCase.new("stopped once #{ruby.name}") { StoppedOnce.look(self, ruby) } }
  end

  def self.look(test, ruby)
    test.with_program(ruby, "applied.rb") do |pid, counter|
      stops = Array.new(LOOKS) { stops_of(test, ruby, pid) }
      test.fail("stops of the main thread in #{LOOKS} looks: #{stops}") if stops.count(1) * 2 < LOOKS
      test.goes_on(counter)
      test.note = "stops: #{stops.join(", ")}"
    end
  end

  def self.stops_of(test, ruby, pid)
    calls = File.join(test.folder, "calls")
    out, = Open3.capture2(*LiveCase::ROOT, "strace", "-f", "-e", "trace=ptrace", "-o", calls, Suite::RCORE, "analyze", "--json", "-p", pid.to_s)
    contexts = JSON.parse(out, max_nesting: false)["fibers"].count { |fiber| fiber["context"].to_s.include?("request ") }
    wanted = ruby.version < Gem::Version.new("3.2") ? 0 : 20 * 11
    test.same("fibers with a context", wanted, contexts)
    File.foreach(calls).grep(/PTRACE_INTERRUPT, #{pid}\b/).size
  end
end
