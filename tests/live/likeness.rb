# SPDX-License-Identifier: MIT

# Threads whose stacks differ only in the line of the innermost frame, or in the depth of a recursion: named as similar,
# and merged by --merge=similar.
module Likeness
  def self.cases(rubies)
    rubies.map { |ruby| LiveCase.new("similar #{ruby.name}") { Likeness.look(self, ruby) } }
  end

  def self.look(test, ruby)
    test.with_program(ruby, "alike.rb") do |pid, counter, _folder|
      test.same("same", { "line" => [[2, 5], [2, 5], [3, 4]] }, groups(test, pid))
      test.same("similar", { "line" => [[7, 0]], "recursion" => [[5, 0]] }, groups(test, pid, "--merge=similar"))
      test.same("text", 3, text(test, pid).scan(/^  similar: .*\(--merge=similar merges them\)$/).size)
      merged = text(test, pid, "--merge=similar")
      test.same("merged text", %w[5 7], merged.scan(/^(\d) threads sleeping.*, with similar stacks at \S*alike\.rb:\d+ and elsewhere: T/).flatten.sort)
      test.goes_on(counter)
    end
  end

  # For each kind of thread: how many are in each group, and how many others are
  # similar.
  def self.groups(test, pid, *options)
    report, status = test.report("-p", pid, *options)
    test.same("status", 0, status)
    kinds = report["threads"].to_h { |thread| [thread["id"], thread["name"].to_s[/\A\w+/]] }
    report["thread_groups"].group_by { |group| kinds[group["threads"].first] }.transform_values do |groups|
      groups.map { |group| [group["threads"].size, group["similar"].to_a.size] }.sort
    end
  end

  def self.text(test, pid, *options)
    out, err, status = test.rcore("-p", pid, *options)
    test.same("complaints and status", ["", 0], [err, status])
    out
  end
end
