# SPDX-License-Identifier: MIT

# Pools of connections that are exhausted: who waits, who has the connections, and what the holders do.
module Exhausted
  LINES = 40

  def self.cases(rubies)
    rubies.map { |ruby| LiveCase.new("exhausted pools #{ruby.name}") { Exhausted.look(self, ruby) } }
  end

  def self.look(test, ruby)
    test.with_program(ruby, "pools.rb") do |pid, counter, folder|
      place = "in Rate.fetch (pools.rb:#{JSON.parse(File.read(File.join(folder, "truth")))["fetch_line"]})"
      pools(test, pid)
      head = test.rcore("-p", pid).first.lines.first(LINES).join
      [/6 threads wait for a database connection \(pool of 5: all in use by T\d+ T\d+ T\d+ T\d+ T\d+\); T\d+ waits to read fd .* #{Regexp.escape(place)}; all 6 wait in block in .*#wait_poll \(pools\.rb:\d+\)$/,
       /4 threads wait for a connection \(pool of 3: all in use by T\d+ T\d+ T\d+\); T\d+ waits to read fd .* #{Regexp.escape(place)}; all 4 wait in .*#pop \(pools\.rb:\d+\)$/].each do |wanted|
        test.fail("the first #{LINES} lines lack #{wanted.source}:\n#{head}") unless head =~ wanted
      end
      waits = test.rcore("-p", pid, "--all").first.scan(/waits for a (?:database )?connection of pool .*$/).map { |line| line.sub(/0x\h+/, "OBJECT") }.tally
      test.same("waits", {"waits for a database connection of pool OBJECT (5 of 5 in use, 6 waiting), at most 10000 s" => 6,
                          "waits for a connection of pool OBJECT (3 of 3 in use, 4 waiting), at most 20000 s" => 4}, waits)
      test.goes_on(counter)
    end
  end

  def self.pools(test, pid)
    report, status = test.report("-p", pid)
    test.same("status", 0, status)
    names = report["threads"].to_h { |thread| [thread["current_fiber"], thread["name"]] }
    found = report["pools"].map { |pool| [*pool.values_at("library", "size", "used"), *pool.values_at("holders", "waiters").map { |fibers| fibers.map { |each| names[each] }.tally }] }
    test.same("pools", [["Active Record", 5, 5, {"database holder" => 5}, {"database waiter" => 6}], ["connection_pool", 3, 3, {"holder" => 3}, {"waiter" => 4}]], found)
  end
end
