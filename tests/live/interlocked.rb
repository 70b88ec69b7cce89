# SPDX-License-Identifier: MIT

# The interlock of Rails, of the gem activesupport: who waits for it, and who holds it.
module Interlocked
  GEMS = "/var/lib/rcore-gems"
  LINES = [
    /^Blocked: 4 threads wait for the Rails interlock, 1 to lock it \(shared by T\d+ T\d+\); T\d+ waits to read fd \d+ \(pipe:\[\d+\]\) in Rates\.fetch \(interlocking\.rb:\d+\)/,
    /^Blocked: 3 threads wait for the Rails interlock, 1 to lock it \(locked by T\d+\), which sleeps until it is woken in block/,
    /^Blocked: T\d+ waits for the Rails interlock \(wanted by T\d+\), which sleeps until it is woken in block/,
  ].freeze

  def self.cases(rubies)
    rubies.map { |ruby| LiveCase.new("interlock #{ruby.name}") { Interlocked.look(self, ruby) } }
  end

  def self.look(test, ruby)
    environment = File.directory?(ruby.outside(GEMS)) ? { "GEM_HOME" => GEMS } : {}
    test.with_program(ruby, "interlocking.rb", environment: environment) do |pid, counter, folder|
      report, status = test.report("-p", pid)
      test.same("status", 0, status)
      names = report["threads"].to_h { |thread| [thread["current_fiber"], thread["name"]] }
      waits = report["fibers"].filter_map { |fiber| [names[fiber["id"]], fiber["wait"]] if fiber.dig("wait", "kind") == "interlock" }.to_h
      pools = report["pools"].map { |pool| pool_of(pool, names, waits) }
      test.same("interlocks", JSON.parse(File.read(File.join(folder, "truth"))).sort_by { |lock| lock["waiting"] }, pools.sort_by { |lock| lock["waiting"] })
      wants(test, waits)
      test.same("how", ["in Workers.finish (interlocking.rb) waits for the end of", "in block (2 levels) in <main> (interlocking.rb) waits to lock the Rails interlock shared by",
                        "in block in <main> (interlocking.rb) waits to share the Rails interlock wanted by"],
                report["deadlocks"].flat_map { |deadlock| deadlock["text"].gsub(/(0x\h+|T\d+) ?|:\d+/, "").split(", which ") }.map(&:strip).sort)
      test.same("deadlocks", [%w[helper reload request]], report["deadlocks"].map { |deadlock| deadlock["fibers"].map { |fiber| names[fiber] }.sort })
      head = test.rcore("-p", pid).first.lines.first(40).join
      LINES.each { |line| test.fail("no #{line.source} in:\n#{head}") unless head =~ line }
      test.goes_on(counter)
    end
  end

  def self.pool_of(pool, names, waits)
    holders, waiters = pool.values_at("holders", "waiters").map { |fibers| fibers.map { |fiber| names[fiber] }.sort }
    { "sharing" => pool["exclusive"] ? [] : holders, "locked" => pool["exclusive"] ? holders : [], "waiting" => waiters,
      "locking" => waiters.select { |name| waits.dig(name, "wants") == "lock" } }
  end

  # If nobody has locked it, a thread that waits to share it waits for the one that wants to lock it.
  def self.wants(test, waits)
    wanted = waits.values.map { |wait| wait["text"].sub(/0x\h+/, "OBJECT").gsub(/T\d+/, "T") }.tally
    test.same("texts", { "waits to share the Rails interlock OBJECT wanted by T" => 4, "waits to lock the Rails interlock OBJECT shared by T T" => 1,
                         "waits to lock the Rails interlock OBJECT shared by T" => 1, "waits to share the Rails interlock OBJECT locked by T" => 2,
                         "waits to lock the Rails interlock OBJECT locked by T" => 1, "waits for the Rails interlock OBJECT wanted by T" => 1 }, wanted)
  end
end
