# SPDX-License-Identifier: MIT

# rcore --watch: what changed since the last look, as long as the process lives.
module Watched
  def self.cases(rubies)
    rubies.map { |ruby| LiveCase.new("watch #{ruby.name}") { Watched.one(self, ruby) } } +
      [LiveCase.new("watch, interrupted") { Watched.interrupted(self, rubies.last) },
       LiveCase.new("watch, usage") { Watched.usage(self) }]
  end

  # The block gets what rcore prints so far, and its process id. Returns its exit status.
  def self.watching(test, pid, command = "waits")
    told = +""
    read, write = IO.pipe
    rcore = Process.spawn(*LiveCase::ROOT, Suite::RCORE, command, "-p", pid.to_s, "--watch", "1", in: File::NULL, out: write, err: write)
    write.close
    reader = Thread.new { loop { told << read.readpartial(65_536) } rescue EOFError }
    yield told, rcore
    status = Child.wait(rcore)
    reader.join
    [told, status]
  ensure
    read&.close
  end

  def self.one(test, ruby)
    test.with_program(ruby, "changing.rb") do |pid, counter, folder, spawned|
      before, after = JSON.parse(File.read(File.join(folder, "truth"))).values_at("before", "after")
      told, status = watching(test, pid) do |text, _|
        # The second look has nothing to tell.
        test.wait_until("a look without a change") { text =~ /^\d\d:\d\d:\d\d  [01] of \d threads and fibers changed$/ }
        File.write(File.join(folder, "go"), "")
        test.wait_until("the change") { text =~ /^  T2  .*changing\.rb:#{after}\)  \(before: .*changing\.rb:#{before}\)\)$/ }
        test.wait_until("the new one") { text =~ /^  T4  is new: / }
        test.wait_until("the end of one") { text =~ /^  T3  has ended  \(before: / }
        test.goes_on(counter)
        Child.signal(:KILL, -spawned)
      end
      test.same("exit status", 0, status.exitstatus)
      test.fail("no first report: #{told.lines.first}") unless told.include?("T2")
      test.same("the last line", "process #{pid} has ended\n", told.lines.last)
    end
  end

  def self.interrupted(test, ruby)
    test.with_program(ruby, "changing.rb") do |pid, counter|
      _, status = watching(test, pid, "analyze") do |text, rcore|
        test.wait_until("a look") { text =~ /^\d\d:\d\d:\d\d  / }
        Child.signal(:INT, rcore)
      end
      test.same("exit status", 0, status.exitstatus)
      test.goes_on(counter)
    end
  end

  def self.usage(test)
    { %w[analyze core --watch 1] => "'--watch' requires -p", %w[analyze -p 1 --watch 0] => "--watch", %w[analyze -p 1 --watch 1 --json] => "prints text",
      %w[pack -p 1 --watch 1 -o x] => "unknown option '--watch'", %w[waits -p 1 --watch 1 --children] => "cannot be used with --children" }.each do |words, said|
      out, err, status = Open3.capture3(Suite::RCORE, *words)
      test.same("#{words.join(' ')}: output, status", ["", 64], [out, status.exitstatus])
      test.fail("#{words.join(' ')}: #{err}") unless err.include?(said) && err.lines.size == 1
    end
  end
end
