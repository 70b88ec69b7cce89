# SPDX-License-Identifier: MIT

# What fibers of the gem async wait for if the VM does not know it, or knows only the object inside.
module Awaited
  FIRST = Gem::Version.new("3.2")
  TASKS = { "waits for Async::Semaphore OBJECT (3 of 3 acquired, 11 waiting)" => 10,
            "waits for Async::Semaphore OBJECT (3 of 3 acquired, 11 waiting), at most 6000 s" => 1,
            "waits for Async::Semaphore OBJECT (1 of 1 acquired, 4 waiting)" => 4, "waits for the end of FIBER" => 6,
            "waits for the end of FIBER, at most 5000 s" => 2, "waits for Mutex OBJECT held by FIBER, within Async::Task#with_timeout(8000)" => 1,
            "sleeps for 9000 s, within Async::Task#with_timeout(8001)" => 1 }.freeze
  LATER = TASKS.merge("waits for Async::Condition OBJECT" => 5, "waits for Async::Variable OBJECT" => 3).freeze
  EARLIER = LATER.merge("waits for an item of Async::Queue OBJECT (0 items, 7 waiting)" => 7,
                        "waits for room in Async::LimitedQueue OBJECT (2 of 2 items, 4 waiting)" => 4).freeze
  BLOCKED = [
    /11 fibers wait for Async::Semaphore 0x\h+ \(3 of 3 acquired by T1\.F\d+ T1\.F\d+ T1\.F\d+\); T1\.F\d+ sleeps until it is woken in block (?:in Object#hold|\(2 levels\) in <main>) \(awaiting\.rb:\d+\); all 11 wait in Object#hold \(awaiting\.rb:\d+\)$/,
    /4 fibers wait for Async::Semaphore 0x\h+ \(1 of 1 acquired; by whom is unknown, because acquire had no block\); all 4 wait in block \(\d levels\) in <main> \(awaiting\.rb:\d+\)$/,
  ].freeze

  CIRCLE = "FIBER in PLACE waits for the end of FIBER, which in PLACE waits for the end of FIBER, which in PLACE waits for the end of FIBER"

  def self.cases(rubies)
    rubies.select { |ruby| ruby.version >= FIRST }.flat_map do |ruby|
      { "earlier" => EARLIER, "later" => LATER }.map do |kind, wanted|
        LiveCase.new("async #{kind} #{ruby.name}") { Awaited.look(self, ruby, kind, wanted) }
      end
    end
  end

  def self.look(test, ruby, kind, wanted)
    test.with_program(ruby, "awaiting.rb", kind) do |pid, counter|
      report, status = test.report("-p", pid)
      test.same("status", 0, status)
      waits = report["fibers"].filter_map { |fiber| fiber["wait"] }
      test.same("waits", wanted, waits.map { |wait| wait["text"].sub(/0x\h+/, "OBJECT").sub(/T1\.F\d+/, "FIBER") }.grep(/Async|FIBER/).tally)
      test.same("kinds", { "semaphore" => "Async::Semaphore", "task" => "Async::Task" },
                waits.to_h { |wait| wait.values_at("kind", "class") }.slice("semaphore", "task"))
      timed = waits.select { |wait| wait["timed"] && wait["kind"] != "sleep" }
      test.same("timed", { %w[task 5000] => 2, %w[semaphore 6000] => 1, %w[io 7000] => 1 }, timed.map { |wait| wait.values_at("kind", "seconds") }.tally)
      test.same("deadlocks", [CIRCLE], report["deadlocks"].map { |deadlock| deadlock["text"].gsub(/T1\.F\d+/, "FIBER").gsub(/ in \S.*?\(awaiting\.rb:\d+\)/, " in PLACE") })
      test.same("holders", [0, 3], report["pools"].map { |pool| pool["holders"].to_a.size }.minmax)
      head = test.rcore("-p", pid).first.lines.first(40).join
      BLOCKED.each { |line| test.fail("no #{line.source} in #{head}") unless head =~ line }
      test.goes_on(counter)
    end
  end
end
