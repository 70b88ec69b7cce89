# SPDX-License-Identifier: MIT

# Threads that wait for others, which wait for others in turn: the first lines
# name the last of these. Some threads wait for child processes.
module Held
  LINES = [
    %r{^Blocked: 2 threads wait for the end of T\d+, which waits for the end of T\d+, which waits for Mutex 0x\h+ held by T\d+, which waits to read fd \d+ \(pipe:\[\d+\]\) in block in \S*hold \(holding\.rb:9\); both wait in \S*outer \(holding\.rb:17\)$},
    %r{^Blocked: T\d+ waits for Mutex 0x\h+ held by T\d+, which waits to read fd \d+ \(pipe:\[\d+\]\) in block in \S*hold \(holding\.rb:9\); T\d+ waits in \S*want \(holding\.rb:13\)$},
  ].freeze

  CHILDREN = [/\Awaits for any child process\z/, /\Awaits for process \d+\z/].freeze

  def self.cases(rubies)
    rubies.map { |ruby| LiveCase.new("held #{ruby.name}") { Held.look(self, ruby) } }
  end

  def self.look(test, ruby)
    test.with_program(ruby, "holding.rb") do |pid, counter, folder|
      out, err, = test.looked("-p", pid)
      test.same("complaints", "", err)
      LINES.each { |line| test.fail("no #{line.source} in:\n#{out.lines.first(40).join}") unless out =~ line }
      children(test, pid, File.read(File.join(folder, "detached")).split)
      lines = test.report("-p", pid).first["summary"].first(2)
      test.same("kinds", { "join" => 2, "lock" => 1 }, lines.to_h { |line| [line["kind"], line["fibers"].size] })
      test.same("who holds them up", 1, lines.map { |line| line["holder"] }.uniq.size)
      test.goes_on(counter)
    end
  end

  # Threads that Ruby starts to detach a child have no frames.
  def self.children(test, pid, detached)
    waits = test.report("-p", pid).first["fibers"].filter_map { |fiber| fiber["wait"] }.select { |wait| wait["kind"] == "process" }
    found, waits = waits.partition { |wait| detached.include?(wait["pid"].to_s) }
    test.same("detached", detached.map { |child| "waits for process #{child}" }.sort, found.map { |wait| wait["text"] }.sort)
    texts = waits.map { |wait| wait["text"] }.sort
    test.fail("children: #{texts}") unless texts.size == CHILDREN.size && CHILDREN.zip(texts).all? { |wanted, text| text.match?(wanted) }
  end
end
