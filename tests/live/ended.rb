# SPDX-License-Identifier: MIT

# Threads that have ended and were never joined are not counted as threads, and take one line.
module Ended
  SPENT = /^(\d+) threads whose fibers have ended, too: E\d+( E\d+){1,19}( and \d+ more \(--all shows each\))?$/.freeze

  def self.cases(rubies)
    rubies.map { |ruby| LiveCase.new("ended threads #{ruby.name}") { Ended.look(self, ruby) } }
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
