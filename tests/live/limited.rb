# SPDX-License-Identifier: MIT

# Threads that wait in a block of Timeout.timeout: of Ruby's own library, of the gem, and of a class of the program.
module Limited
  KINDS = %w[std gem own].freeze
  LINE = /, which, within Timeout\.timeout\(94000\), waits for Mutex 0x\h+ held by T\d+, which waits for Mutex 0x\h+ held by T\d+/.freeze

  def self.cases(rubies)
    rubies.product(KINDS).map { |ruby, kind| LiveCase.new("limited #{kind} #{ruby.name}") { Limited.look(self, ruby, kind) } }
  end

  def self.look(test, ruby, kind)
    test.with_program(ruby, "limiting.rb", kind) do |pid, counter, folder|
      truth = JSON.parse(File.read(File.join(folder, "truth")))
      report, status = test.report("-p", pid)
      test.same("status", 0, status)
      waits = waits_of(report)
      truth.each { |name, limit| within(test, name, limit, waits[name]) }
      times(test, waits.slice(*truth.keys))
      deadlocks(test, report, kind)
      # The line of a lock follows the pair that will end; Ruby 2.7 has the same text for a lock of a thread.
      out, = test.looked("-p", pid)
      test.fail("no #{LINE.source} in:\n#{out.lines.first(20).join}") unless kind == "own" || out =~ LINE
      test.goes_on(counter)
    end
  end

  def self.waits_of(report)
    fibers = report["fibers"].to_h { |fiber| [fiber["id"], fiber] }
    report["threads"].to_h { |thread| [thread["name"], fibers.fetch(thread["current_fiber"])["wait"]] }
  end

  def self.within(test, name, limit, wait)
    return test.fail("#{name} waits for nothing") unless wait
    found = wait["within"]
    test.same(name, limit, found && found.values_at("method", "seconds"))
    ending = limit && ", within #{limit[0]}#{"(#{limit[1]})" if limit[1]}"
    test.same("text of #{name}: #{wait["text"]}", ending, wait["text"][/, within .*/])
  end

  # The times of the waits themselves.
  def self.times(test, waits)
    timed = waits.select { |_, wait| wait && wait["timed"] }
    test.same("times", { "sleep with a time" => "95000", "join with a time" => "95001" }, timed.transform_values { |wait| wait["seconds"] })
  end

  def self.deadlocks(test, report, kind)
    names = report["threads"].to_h { |thread| [thread["current_fiber"], thread["name"]] }
    stuck = report["deadlocks"].map { |deadlock| deadlock["fibers"].map { |fiber| names[fiber] }.sort }.sort
    wanted = [["is stuck 0", "is stuck 1"]]
    wanted.unshift(["ends 0", "ends 1"]) if kind == "own"
    test.same("deadlocks", wanted, stuck)
  end
end
