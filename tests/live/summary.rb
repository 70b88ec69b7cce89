# SPDX-License-Identifier: MIT

# A program that is stuck in a way that it knows: the first lines of the report
# must say so.
module Summary
  LINES = 40
  LOOKS = 20

  def self.cases(rubies)
    rubies.map { |ruby| LiveCase.new("summary #{ruby.name}") { Summary.stuck(self, ruby) } }
  end

  def self.stuck(test, ruby)
    test.with_program(ruby, "stuck.rb") do |pid, counter, folder|
      truth = JSON.parse(File.read(File.join(folder, "truth")), symbolize_names: true)
      looks = Array.new(LOOKS) { look(test, pid, truth) }
      test.fail("looks differ: #{looks.uniq}") unless looks.uniq.size == 1
      text(test, pid, truth)
      ci_formats(test, pid, truth)
      core_without_stacks(test, ruby, pid, folder) if ruby.name == "3.4"
      test.goes_on(counter)
    end
  end

  # The summary as the program knows it, and which threads are reported as
  # alike.
  def self.look(test, pid, truth)
    report, status = test.report("-p", pid)
    test.same("status", 0, status)
    names = report["threads"].to_h { |thread| [thread["current_fiber"], thread["name"] || thread["id"]] }
    lines = report["summary"].map do |line|
      {kind: line["kind"], holder: names[line["holder"]], busy: line["busy"],
       fibers: line["fibers"].map { |fiber| names[fiber][/\A\w+/] }.tally, text: line["text"]}
    end
    lock, queue, pool = lines.values_at(*%w[lock queue pool].map { |kind| lines.index { |line| line[:kind] == kind } || lines.size })
    test.same("blocked by the lock", ["holder", {"blocked" => 8, "pool" => 5}], lock&.values_at(:holder, :fibers))
    test.same("blocked by the queue", {"pusher" => 3}, queue && queue[:fibers])
    test.same("the pool", [5, {"pool" => 20}], pool&.values_at(:busy, :fibers))
    test.fail("no place: #{lock}") unless lock && lock[:text].include?("in Rate.fetch (stuck.rb:#{truth[:fetch_line]})")
    test.fail("no descriptor: #{lock}") unless lock && lock[:text].include?("fd #{truth[:fd]} (socket:") && lock[:text].include?(truth[:peer])
    groups = report["thread_groups"].map { |group| [group["threads"].size, group["idle"] == true] }
    test.same("groups", [[8, false], [5, false], [15, true], [3, false]].sort_by(&:to_s), groups.sort_by(&:to_s))
    # On a busy machine, the thread that counts may hold the GVL for a whole look.
    [lines.reject { |line| line[:kind] == "gvl" }.map { |line| line.slice(:kind, :holder, :busy, :fibers) }, groups]
  end

  # Each format names the line of the thread that blocks the most others, and contains the whole summary.
  def self.ci_formats(test, pid, truth)
    place = { "github" => "::warning file=stuck.rb,line=%d,title=Blocked threads in Rate.fetch::", "gitlab" => '"path":"stuck.rb","lines":{"begin":%d}',
              "sarif" => '"uri":"stuck.rb","uriBaseId":"%%SRCROOT%%"},"region":{"startLine":%d}', "junit" => "Rate.fetch (stuck.rb:%d)", "markdown" => "Rate.fetch (stuck.rb:%d)" }
    place.each do |name, wanted|
      out, = test.rcore("-p", pid, "--format", name)
      [format(wanted, truth[:fetch_line]), "Blocked: 13 threads wait for Mutex 0x", "Blocked: 3 threads wait for room in SizedQueue 0x", "Pool: 20 threads started in Pool#initialize"].each do |text|
        test.fail("#{name} has no #{text.inspect}: #{out[0, 2000]}") unless out.include?(text)
      end
    end
  end

  # Next to the guard pages of glibc 2.42, GDB 13's gcore cannot read the stacks, and writes zeroes: rcore says so, and
  # still knows who waits for the lock. A newer GDB may read them.
  def self.core_without_stacks(test, ruby, pid, folder)
    said, = Open3.capture2e(*Child::ROOT, "gcore", "-o", File.join(folder, "core"), pid.to_s)
    out, = test.rcore(File.join(folder, "core.#{pid}"), *ruby.files)
    lost = said.scan(/Memory read failed .* bytes at 0x(\h+)/).flatten.reject { |address| address.start_with?("ffff") }
    test.same("says that stacks are lost", lost.any?, out.match?(/^  ! the stacks of \d+ of \d+ threads contain only zeroes: /))
    test.fail("nobody waits:\n#{out.lines.first(LINES).join}") unless out.include?("Blocked: 13 threads wait for Mutex 0x")
  end

  # What a reader sees on the first screen.
  def self.text(test, pid, truth)
    out, err, status = test.rcore("-p", pid)
    test.same("complaints", "", err)
    test.same("status", 0, status)
    head = out.lines.first(LINES).join
    ["Blocked: 13 threads wait for Mutex 0x", "in Rate.fetch (stuck.rb:#{truth[:fetch_line]})",
     "Blocked: 3 threads wait for room in SizedQueue 0x", "which is full (2 of 2 items)",
     "Pool: 20 threads started in Pool#initialize: 5 wait for a Mutex in block", ", 15 idle\n"].each do |wanted|
      test.fail("the first #{LINES} lines lack #{wanted.inspect}:\n#{head}") unless head.include?(wanted)
    end
    test.fail("not in one line: #{out[/^.*idle threads.*$/]}") unless out =~ /^15 idle threads in Pool#initialize: T\d+/
    reactor = out[/^(T\d+) .*"reactor".*  idle, waits .* in Reactor#run$/, 1]
    test.fail("no line for the reactor:\n#{out}") unless reactor
    one, = test.rcore("-p", pid, "--thread", reactor.to_s)
    test.fail("no stack of the reactor:\n#{one}") unless one =~ /^ +0 +(IO|Kernel)[.#]select +\[C\]/
    all, = test.rcore("-p", pid, "--all")
    ids = test.report("-p", pid).first["threads"].map { |thread| thread["id"] }
    test.same("threads with --all", ids.sort, all.scan(/^(T\d+) +LWP/).flatten.sort)
  end
end
