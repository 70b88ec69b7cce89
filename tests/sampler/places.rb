# SPDX-License-Identifier: MIT
require_relative "../live/elsewhere"

# Programs in containers, held by others, with many threads, and with threads that share those of the kernel.
module Places
  SECONDS = 2.0 # of work of M:N threads
  ERROR = 0.02  # of it, for what the kernel and the program count differently

  def self.cases(rubies)
    rubies.flat_map do |ruby|
      [
        *(SamplerCase.new("container #{ruby.name}") { Places.container(self, ruby) } unless ruby.root.empty?),
        SamplerCase.new("debugger #{ruby.name}") { Places.debugger(self, ruby) },
        SamplerCase.new("suspended #{ruby.name}") { Places.suspended(self, ruby) },
        SamplerCase.new("crowd #{ruby.name}") { Places.crowd(self, ruby) },
        SamplerCase.new("busy crowd #{ruby.name}") { Places.busy_crowd(self, ruby) },
        SamplerCase.new("guests #{ruby.name}") { Places.guests(self, ruby) },
        *(SamplerCase.new("mn #{ruby.name}") { Places.mn(self, ruby) } if ruby.version >= Gem::Version.new("3.3")),
      ]
    end
  end

  # The process's own namespace numbers its processes and threads differently.
  def self.container(test, ruby)
    before = [*LiveCase::ROOT, "unshare", "--pid", "--mount", "--fork", "--kill-child"]
    test.with_program(ruby, "busy_threads.rb", 3, before: before) do |_, _, _, spawned|
      outside = Elsewhere.descendants(spawned).find { |each| Elsewhere.inner_pid(each) == 1 } or next test.fail("no process 1 in it")
      [[], ["--native"]].each do |options|
        recording = test.record(ruby, outside, "-d", 2, "-r", 50, *options)
        busy = ->(total) { recording.thread(total)["name"] == "busy" }
        tids = recording.totals.select(&busy).map { |total| recording.thread(total)["tid"] }.uniq
        tasks = Dir.children("/proc/#{outside}/task").map(&:to_i)
        test.fail("tids #{tids}, not of #{tasks}") unless tids.size == 3 && (tids - tasks).empty?
        test.fail("no time on a processor") unless recording.sum("cpu", &busy).positive?
        natives = recording.totals.select(&busy).count { |total| recording.frames(total).any? { |frame| frame["kind"] == "native" } }
        test.fail("#{natives} stacks have native frames") if natives.positive? == options.empty?
      end
    end
  end

  # The tracer that holds it keeps it, and can let it continue.
  def self.debugger(test, ruby)
    test.with_program(ruby, "busy_threads.rb", 2) do |pid, _, folder|
      held = File.join(folder, "held")
      gdb = Process.spawn("gdb", "-q", "-nx", "-batch", "-p", pid.to_s, "-ex", "shell touch #{held}; sleep 600", %i[in out err] => File::NULL, pgroup: true)
      begin
        test.wait_until("gdb") { File.exist?(held) }
        recording = test.record(ruby, pid, "-d", 1)
        test.fail("it was held, and used a processor") unless recording.sum("cpu") { true }.zero?
        stacks = recording.totals.group_by { |total| total["thread"] }.transform_values { |totals| totals.map { |total| total["node"] }.uniq.size }
        test.fail("it was held, and has several stacks: #{stacks}") unless stacks.values.all? { |count| count == 1 }
        path = File.join(test.folder, "native.rec")
        _, err, status = test.rcore("record", "-p", pid, "--native", "-d", 1, "-o", path, *ruby.files)
        test.fail("exit status #{status}: #{err}") unless status.zero? && err =~ /the process could not be stopped \d+ times? because process #{gdb} \(gdb\) traces it/
      ensure
        Child.stop(gdb, -gdb)
      end
      # gdb was killed: the kernel releases what it held.
      before = time_of(pid)
      test.wait_until("the program's work") { time_of(pid) > before }
    end
  end

  # Stopped by a signal of job control, as with Ctrl-Z.
  def self.suspended(test, ruby)
    test.with_program(ruby, "busy_threads.rb", 2) do |pid, _, _|
      Child.signal(:STOP, pid)
      test.wait_until("stop") { File.read("/proc/#{pid}/stat")[/\) (\w)/, 1] == "T" }
      [[], ["--native"]].each do |options|
        recording = test.record(ruby, pid, "-d", 1, *options)
        test.fail("#{options.first} no sample") unless recording.sum("samples") { true }.positive?
        test.same("state of the process", "T", File.read("/proc/#{pid}/stat")[/\) (\w)/, 1])
      end
      _, err, = test.rcore("record", "-p", pid, "-d", 1, "-o", File.join(test.folder, "suspended.rec"), *ruby.files)
      test.fail(err) unless err.include?("a signal has stopped process #{pid} (SIGSTOP, or Ctrl-Z)")
      Child.signal(:CONT, pid)
      before = time_of(pid)
      test.wait_until("the program's work") { time_of(pid) > before }
    end
  end

  CROWD = 200
  CROWD_SECONDS = 4
  # How often rcore may read the process when it first sees a thread, and for each sample after that.
  READS_AT_FIRST = 100
  READS_PER_SAMPLE = 0.5

  # Threads that sleep are not read again and again.
  def self.crowd(test, ruby)
    recording, samples, reads = count_reads(test, ruby, "crowd.rb", CROWD)
    check_waits(test, recording)
    allowed = READS_AT_FIRST * CROWD + READS_PER_SAMPLE * samples
    test.fail("#{reads} reads of the process, for #{samples} samples of #{CROWD} threads") if reads > allowed
  end

  BUSY = 40
  READS_PER_BUSY_SAMPLE = 4
  # What finding the VM and its threads takes, whatever they do: 4,200 were seen. On a busy machine, few samples follow.
  READS_TO_OPEN = 6000

  # What rcore does for a thread that begins to wait does not depend on how many threads there are.
  def self.busy_crowd(test, ruby)
    _, samples, reads = count_reads(test, ruby, "busy_crowd.rb", BUSY)
    allowed = READS_TO_OPEN + READS_AT_FIRST * BUSY + READS_PER_BUSY_SAMPLE * samples
    test.fail("#{reads} reads of the process, for #{samples} samples of #{BUSY} threads") if reads > allowed
  end

  def self.count_reads(test, ruby, program, threads)
    test.with_program(ruby, program, threads) do |pid, _, folder|
      calls = File.join(folder, "calls")
      path = File.join(test.folder, "crowd.rec")
      out, status = Open3.capture2e(*LiveCase::ROOT, "strace", "-f", "-e", "trace=process_vm_readv", "-o", calls, Suite::RCORE, "record",
                                    "-p", pid.to_s, "-r", "20", "-d", CROWD_SECONDS.to_s, "-o", path, *ruby.files)
      raise Debuggee::Failed, "no recording (#{status}): #{out}" unless File.exist?(path)
      recording = test.read(path)
      samples = recording.sum("samples") { true }
      reads = File.foreach(calls).count
      test.note = "#{samples} samples, #{reads} reads"
      return recording, samples, reads
    end
  end

  def self.check_waits(test, recording)
    named = recording.totals.group_by { |total| recording.thread(total)["name"] }
    %w[pop mutex join sleep].each do |kind|
      totals = named.fetch(kind, [])
      test.same("threads that wait for #{kind}", CROWD / 4, totals.map { |total| total["thread"] }.uniq.size)
      test.same("what they wait for", [["blocked", kind]], totals.map { |total| total.values_at("state", "wait") }.uniq)
    end
  end

  GUESTS = 12
  # In seconds, of one place. A tick comes each 2 ms; how long rcore got no
  # processor when the thread came to the place and left it, is added.
  GUEST_ERROR = 0.03

  # Threads that come, move and go beside others that sleep, of which nothing is read.
  def self.guests(test, ruby)
    test.with_program(ruby, "guests.rb", GUESTS) do |pid, _, folder|
      recording = test.record_while(ruby, pid, "-r", 499) { Times.let_go(test, folder) }
      far = []
      errors = Times.notes(folder).map do |key, (time, from)|
        name, place = key.split(".")
        seen = recording.sum("wall") { |total| recording.thread(total)["name"] == name && recording.frames(total).any? { |frame| frame["label"].end_with?(place) } } / 1e9
        unseen = recording.ticks.around(from, from + time)
        far << format("%s: %.3f of %.3f s, with %.3f s between ticks", key, seen, time, unseen) if (seen - time).abs > GUEST_ERROR + unseen || (seen.zero? && unseen < time)
        (seen - time).abs
      end
      test.note = format("%.1f ms off at most, %.1f ticks in a second", errors.max * 1e3, recording.achieved)
      # If a thread loses the processor between a note and the call that the note is about, one place is off.
      test.fail(far.join(", ")) if far.size > 1
    end
  end

  # Its time on a processor, in ticks of the kernel.
  def self.time_of(pid)
    File.read("/proc/#{pid}/stat").split(") ").last.split[11].to_i
  end

  # Each thread has the time that it noted, whichever kernel thread ran it. If its turn began or ended between two ticks, what ran
  # meanwhile may count for it, or for another one.
  def self.mn(test, ruby)
    test.with_program(ruby, "mn.rb", SECONDS, environment: { "RUBY_MN_THREADS" => "1" }) do |pid, _, folder|
      recording = test.record_while(ruby, pid, "-r", 499) { Times.let_go(test, folder) }
      workers = Times.notes(folder).map do |name, (noted, *edges)|
        seen = recording.sum("cpu") { |total| recording.thread(total)["name"] == name } / 1e9
        [name, seen, noted, recording.ticks.around(*edges), edges.size]
      end
      test.note = workers.map { |worker| format("%s %.2f of %.2f s, with %.2f s between the ticks around %d edges of turns", *worker) }.join("; ")
      wrong = workers.select { |_, seen, noted, unseen| (seen - noted).abs > unseen + ERROR * SECONDS }
      test.fail("times of #{wrong.map(&:first)}") if wrong.any?
    end
  end
end
