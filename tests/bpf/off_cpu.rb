# SPDX-License-Identifier: MIT
require "etc"
require_relative "../sampler/case"
require_relative "../support/profile_endings"

# The times of `rcore record --off-cpu` are between those that the program measures inside its methods and around them: elapsed time
# minus CPU time. Waiting for the GVL and for a processor is part of all three, so a busy machine changes nothing.
module OffCpu
  ROUNDS = 60
  # The methods, and why they wait.
  METHODS = { "nap" => "sleep", "lock" => "mutex", "pipe" => "io", "queue" => "pop", "late" => "mutex", "ends" => "join", "child" => "process" }.freeze
  # Those of M:N threads.
  MANY = { "nap" => "sleep", "queue" => "pop", "lock" => "io" }.freeze
  # This much of the time that a method waits may be for something else. On a
  # busy machine, threads wait for the GVL in places where rcore never sees
  # them: then it says that it does not know, but not too often.
  OTHER = 0.02
  UNKNOWN = 0.05
  # How far the clocks of the program and of the kernel's scheduler may differ: a share of the time, and nanoseconds of each call. On
  # a busy virtual machine, 0.61 % were seen. Time that counts for another method is much more.
  SHARE = 0.01
  CALL = 50_000
  # This share of the stacks may be unreadable: a BPF program does not wait for a page, and a new thread has not used all pages of
  # its stack. It was seen once: one of 925.
  UNREAD = 0.01

  CROWD = <<~RUBY.freeze
    def nap(seconds)
      sleep(seconds) while true
    end

    def pop
      Queue.new.pop
    end

    def lock(mutex)
      mutex.lock
    end

    mutex = Mutex.new.tap(&:lock)
    1000.times { |i| Thread.new { nap(0.5 + i * 0.001) } }
    5.times { Thread.new { pop } }
    5.times { Thread.new { lock(mutex) } }
    puts
    $stdout.flush
    sleep
  RUBY

  def self.cases(workshops)
    workshops.map { |ruby, workshop| BpfCase.new("off-cpu #{ruby.name}") { OffCpu.compare(self, ruby, workshop) } } +
      workshops.map { |ruby, workshop| BpfCase.new("off-cpu pages #{ruby.name}") { OffCpu.pages(self, ruby, workshop) } } +
      workshops.select { |ruby, _| ruby.version >= Gem::Version.new("3.3") }.map { |ruby, workshop| BpfCase.new("off-cpu mn #{ruby.name}") { OffCpu.many(self, ruby, workshop) } } +
      places(workshops)
  end

  def self.compare(test, ruby, workshop)
    seed = Random.new_seed % 2**31
    recording, truth, stolen = recorded(test, ruby, workshop, "blocks.rb", seed, ROUNDS)
    check(test, recording, truth, seed, stolen)
  end

  # Nanoseconds that the host of a virtual machine took from it. Linux counts them neither as CPU time of a thread nor as a switch: a
  # program takes them for time off its processor, and rcore does not.
  def self.stolen
    File.foreach("/proc/stat").first.split[8].to_i * (1_000_000_000 / Etc.sysconf(Etc::SC_CLK_TCK))
  end

  # Where rcore's messages are.
  def self.log_in(test)
    File.join(test.folder, "off.log")
  end

  # Returns the recording of one of the programs, which ends with the program, its truth, and how much time was stolen meanwhile.
  def self.recorded(test, ruby, workshop, *program)
    recorder = nil
    before = stolen
    path, log = File.join(test.folder, "off.rec"), log_in(test)
    truth = test.truth_of(ruby, workshop, *program) do |pid|
      recorder = Process.spawn(*BpfCase::ROOT, Suite::RCORE, "record", "--off-cpu", "-p", pid.to_s, "-o", path, *ruby.files, %i[out err] => log, pgroup: true)
      test.wait_until("recording: #{File.read(log)}") { File.exist?(path) || Process.wait(recorder, Process::WNOHANG) }
    end
    test.same("status of rcore: #{File.read(log)}", true, Child.wait(recorder).success?)
    recorder = nil
    said = File.read(log).match(/\Arcore: in .* threads left their processors (\d+) times?; 0 records were lost(?:, (\d+) stacks? could not be read)?; [^\n]*\n\z/)
    test.fail("rcore: #{File.read(log)}") unless said && said[2].to_i <= UNREAD * said[1].to_i
    [Record.read(path), truth, stolen - before]
  ensure
    Child.stop(recorder, -recorder) if recorder
  end

  # A page that a thread has not used does not hide the values before it.
  def self.pages(test, ruby, workshop)
    recording, truth, stolen = recorded(test, ruby, workshop, "pages.rb")
    found = Hash.new(0)
    recording.totals.each do |total|
      name = recording.stack(total).grep(/\AObject#nap\d+\z/).first
      found[name.delete_prefix("Object#")] += total["wall"] if name
    end
    lost = truth.reject { |name, slept| found[name].between?(slept - SHARE * slept - 6 * CALL - stolen, slept + SHARE * slept) }
    test.fail("#{lost.size} of #{truth.size} threads: #{lost.first(3).map { |name, slept| "#{name} slept for #{slept} ns, not #{found[name]}" }.join("; ")}") if lost.any?
  end

  def self.check(test, recording, truth, seed, stolen)
    errors = METHODS.map do |name, wait|
      inside = recording.totals.select { |total| recording.stack(total).include?("Object##{name}") }
      found = inside.sum { |total| total["wall"] }
      least, most, calls = truth.fetch(name)
      allowed = SHARE * found + CALL * calls
      test.fail("seed #{seed}: #{name} was off its processor for #{found} ns, and noted #{least} to #{most} in #{calls} calls; #{stolen} ns were stolen; elsewhere #{elsewhere(recording, name, inside)}; #{File.read(log_in(test))}") unless found.between?(least - allowed - stolen, most + allowed)
      labels = inside.map { |total| total["labels"] }.uniq
      test.same("contexts of #{name}", [{ "request_id" => name }], labels)
      reasons(test, name, wait, inside, seed)
      format("%s %+.2f %%", name, 100.0 * (found - least) / least)
    end
    test.same("time on a processor", 0, recording.sum("cpu") { true })
    waits(test, recording, truth)
    owners(test, recording)
    test.note = errors.join(", ")
  end

  # The stacks without a method, but with its context or of its thread, and
  # their times. A stack that could not be read has no context.
  def self.elsewhere(recording, name, inside)
    own = inside.map { |total| recording.thread(total)["tid"] }.uniq
    totals = recording.totals.reject { |total| recording.stack(total).include?("Object##{name}") }
    totals = totals.select { |total| total["labels"] == { "request_id" => name } || own.include?(recording.thread(total)["tid"]) }
    totals.map { |total| [recording.stack(total), total.values_at("state", "wait", "wall")] }
  end

  def self.reasons(test, name, wait, inside, seed)
    blocked = inside.select { |total| total["state"] == "blocked" }
    found = blocked.group_by { |total| total["wait"] }.transform_values { |totals| totals.sum { |total| total["wall"] } }
    all = found.values.sum
    others = all - found.fetch(wait, 0)
    unknown = found.fetch("unknown", 0)
    test.fail("seed #{seed}: of #{all} ns in #{name}, not all for #{wait}: #{found}") if others - unknown > OTHER * all || unknown > UNKNOWN * all
  end

  # The thread that holds the lock is named.
  def self.owners(test, recording)
    keeper = recording.thread(recording.totals.find { |total| total["labels"] == { "request_id" => "keep" } })
    late = recording.totals.select { |total| recording.stack(total).include?("Object#late") && total["state"] == "blocked" }
    named = late.select { |total| total["detail"] }
    all, right = [late, named].map { |totals| totals.sum { |total| total["wall"] } }
    test.fail("of #{all} ns, the owner of the lock is named for #{right}") if right < all / 2
    others = named.map { |total| total["detail"] }.reject { |detail| detail.end_with?(" held by #{keeper["id"]}") }
    test.same("other owners than #{keeper["id"]}", [], others)
  end

  # Threads that wait from before the recording until after its end.
  def self.waits(test, recording, truth)
    waiting = recording.totals.select { |total| recording.stack(total).include?("Object#for_ever") }
    threads = waiting.group_by { |total| recording.thread(total)["tid"] }.values
    test.same("threads that wait for ever", 2, threads.size)
    threads.each do |own|
      # At its start, rcore stops the process, which wakes the thread.
      found = own.sum { |total| total["state"] == "blocked" ? total["wall"] : 0 }
      least = 0.99 * truth["work"]
      test.fail("a thread waited for #{found} ns, of #{least.round} at least") if found < least
    end
  end

  # On a busy machine, rcore may never get a processor while a thread waits. Then it says that it does not know the reason, and there
  # are more recordings until it does.
  ATTEMPTS = 10

  # M:N threads that leave and enter kernel threads: their waits do not count for a thread that keeps its kernel thread.
  def self.many(test, ruby, workshop)
    locks = []
    test.truth_of(ruby, workshop, "locked.rb", environment: { "RUBY_MN_THREADS" => "1" }) do |pid|
      ATTEMPTS.times do |attempt|
        path = File.join(test.folder, "many#{attempt}.rec")
        _, err, status = rcore("record", "--off-cpu", "-p", pid.to_s, "-d", "3", "-o", path, *ruby.files)
        return test.fail("status #{status}: #{err}") unless status.zero?
        waits = MANY.to_h { |name, wait| [name, waits_in(test, Record.read(path), name, wait)] }
        locks << waits["lock"]
        break if knows?(locks.last)
      end
    end
    test.fail("lock waited for unknown reasons: #{locks}") unless knows?(locks.last)
    test.note = "lock: #{locks.last}, after #{locks.size} recordings" if locks.size > 1
  end

  # How long a method waited for what.
  def self.waits_in(test, recording, name, wait)
    inside = recording.totals.select { |total| total["state"] == "blocked" && recording.stack(total).include?("Object##{name}") }
    found = inside.group_by { |total| total["wait"] }.transform_values { |totals| totals.sum { |total| total["wall"] } }
    test.fail("#{name} waited for other reasons than #{wait}: #{found}") unless (found.keys - [wait, "unknown"]).empty?
    found
  end

  def self.knows?(found)
    found.any? && found.fetch(MANY["lock"], 0) >= found.values.sum / 2
  end

  def self.places(workshops)
    own = workshops.keys.find { |ruby| ruby.root.empty? } or return []
    [BpfCase.new("off-cpu refused", needs_bpf: false) { OffCpu.refused(self, own.program) },
     BpfCase.new("off-cpu threads") { OffCpu.crowd(self, own.program) },
     BpfCase.new("off-cpu outputs") { OffCpu.outputs(self, own.program) }]
  end

  def self.refused(test, program)
    Record.with_busy(program) do |pid|
      {
        %w[--rate 10] => "options '--off-cpu' and '--rate' cannot be used together",
        %w[--fiber-rate 20] => "options '--off-cpu' and '--fiber-rate' cannot be used together",
        %w[--mode cpu] => "'--off-cpu' records no time on a processor: leave out '--mode cpu'",
      }.each do |options, line|
        out, err, status = Open3.capture3(*BpfCase::ROOT, Suite::RCORE, "record", "--off-cpu", "-p", pid.to_s, *options)
        test.same("#{options}: status", 64, status.exitstatus)
        test.same("#{options}: output", "", out)
        test.fail("#{options}: #{err.inspect}") unless err.lines.size == 1 && err.include?(line)
      end
      File.chmod(0o777, test.folder)
      err, status = Open3.capture2e(*BpfCase::ROOT, *Record::NOBODY, Suite::RCORE, "record", "--off-cpu", "-p", pid.to_s, "-d", "1")
      test.same("status without capabilities", 2, status.exitstatus)
      test.fail("#{err.inspect} is no single line that says why") unless err.lines.size == 1 && err.start_with?("rcore: --off-cpu needs BPF: ")
    end
  end

  # Many threads come and go, and a few wait: rcore still learns why, and ends
  # in time. Looking at each of them alone would take minutes.
  def self.crowd(test, program)
    input, output = IO.pipe
    pid = Process.spawn(program, "-e", CROWD, out: output, pgroup: true)
    output.close
    input.gets
    path = File.join(test.folder, "crowd.rec")
    out, status = Open3.capture2e(*BpfCase::ROOT, "timeout", "-s", "KILL", "60", Suite::RCORE, "record", "--off-cpu", "-p", pid.to_s, "-d", "3", "-o", path)
    return test.fail("#{status}: #{out}") unless status.success?
    recording = Record.read(path)
    waits = recording.totals.group_by { |total| recording.stack(total).grep(/\AObject#(?:nap|pop|lock)\z/).first }
    waits = waits.transform_values { |totals| totals.group_by { |total| total.values_at("state", "wait").join(" ") }.transform_values { |own| own.sum { |total| total["wall"] } } }
    { "nap" => "sleep", "pop" => "pop", "lock" => "mutex" }.each do |name, wait|
      found = waits.fetch("Object##{name}", {})
      all = found.sum { |state, time| state.start_with?("blocked") ? time : 0 }
      test.fail("#{name} was blocked for #{all} ns: #{found}") unless found.fetch("blocked #{wait}", 0) > all / 2
    end
  ensure
    Child.stop(pid, -pid) if pid
    input&.close
  end

  # Each format names the times; a recording of another kind is not compared with them.
  def self.outputs(test, program)
    pid = Process.spawn(program, "-e", "def idle; sleep; end; idle", pgroup: true)
    test.wait_until("sleep") { File.read("/proc/#{pid}/stat")[/\) S/] && File.read("/proc/#{pid}/maps").include?("libruby") }
    off, all = %w[off all].map { |name| File.join(test.folder, "#{name}.rec") }
    outputs = ProfileEndings.of(Suite::RCORE).to_h { |ending| [ending.delete_prefix("."), File.join(test.folder, "idle#{ending}")] }
    _, err, status = rcore("record", "--off-cpu", "-p", pid.to_s, "-d", "2", "-o", off, *outputs.values.flat_map { |path| ["-o", path] })
    return test.fail("status #{status}: #{err}") unless status.zero?
    texts = outputs.transform_values { |path| File.binread(path) }
    # The thread waits all the time.
    sums = JSON.parse(texts["json"])["sums"]
    test.fail("sums: #{sums}") unless sums["duration"].between?(0.99 * sums["wall"], 1.5 * sums["wall"])
    { "txt" => "Times are off-CPU times", "html" => "Times are off-CPU times", "svg" => "off-CPU time, ", "callgrind" => "events: OffCpu", "speedscope.json" => '"off-CPU time"', "json" => '"event":"off-cpu"' }.each do |ending, words|
      test.fail("#{ending} lacks #{words.inspect}") unless texts[ending].delete("\n ").include?(words.delete(" "))
      test.fail("#{ending} lacks Object#idle") unless texts[ending].include?("Object#idle")
    end
    raw, = Open3.capture2("go", "tool", "pprof", "-raw", outputs["pb.gz"], err: File::NULL)
    test.fail("pprof: #{raw.lines.first(8).join}") unless raw.include?("samples/count off-cpu/nanoseconds[dflt]")
    _, err, status = rcore("record", "-p", pid.to_s, "-d", "1", "-o", all)
    return test.fail("status #{status}: #{err}") unless status.zero?
    _, err, status = rcore("report", off, "--diff", all)
    test.same("status of a comparison", 64, status)
    test.fail("comparison: #{err.inspect}") unless err.include?("cannot be compared")
    _, err, status = rcore("report", off, "--mode", "cpu")
    test.same("status of --mode cpu", 64, status)
  ensure
    Child.stop(pid, -pid) if pid
  end

  def self.rcore(*arguments)
    out, err, status = Open3.capture3(*BpfCase::ROOT, Suite::RCORE, *arguments)
    [out, err, status.exitstatus]
  end
end
