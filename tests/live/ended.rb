# SPDX-License-Identifier: MIT

# Threads that have ended and were never joined are not counted as threads, and take one line.
module Ended
  SPENT = /^(\d+) threads whose fibers have ended, too: E\d+( E\d+){1,19}( and \d+ more \(--all shows each\))?$/.freeze

  def self.cases(rubies)
    rubies.flat_map do |ruby|
      [LiveCase.new("ended threads #{ruby.name}") { Ended.look(self, ruby) },
       LiveCase.new("ended main thread #{ruby.name}") { Ended.look_at_main(self, ruby) }]
    end
  end

  def self.look_at_main(test, ruby)
    test.with_program(ruby, "leaving.rb") do |pid, counter|
      report, status = test.report("-p", pid)
      test.same("status", 0, status)
      main, left = report["threads"].partition { |thread| thread["main"] }
      test.same("threads", [["dead"], 1], [main.map { |thread| thread["status"] }, left.size])
      test.same("waits", [{ "kind" => "join", "text" => "waits for the end of #{left.first["id"]}" }],
                fibers_of(report, main.first).map { |fiber| fiber["wait"].to_h.slice("kind", "text") })
      test.goes_on(counter)
    end
  end

  def self.look(test, ruby)
    test.with_program(ruby, "ending.rb") do |pid, counter, folder|
      alive = Integer(File.read(File.join(folder, "truth")))
      report, status = test.report("-p", pid)
      test.same("status", 0, status)
      ended, living = report["threads"].partition { |thread| thread["ended"] }
      test.same("living threads", alive, living.size)
      spent = ended.count { |thread| (fibers_of(report, thread).map { |fiber| fiber["status"] } - %w[terminated]).empty? }
      test.same("threads of which a fiber is left", 1, ended.size - spent)
      out, = test.looked("-p", pid)
      test.same("spent", spent > 1 ? spent : nil, out[SPENT, 1]&.to_i)
      all, = test.looked("-p", pid, "--all")
      test.same("with --all", ended.size, all.scan(/^E\d+  /).size)
      test.same("merged", [ended.size - spent, spent > 1], [out.scan(/^E\d+  /).size, !!(out =~ SPENT)]) unless spent == 1
      test.goes_on(counter)
    end
  end

  def self.fibers_of(report, thread)
    report["fibers"].select { |fiber| fiber["thread"] == thread["id"] }
  end
end
