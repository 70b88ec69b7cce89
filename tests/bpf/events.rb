# SPDX-License-Identifier: MIT
require_relative "../sampler/case"
require_relative "../support/profile_endings"

# `rcore record --event` counts each write(2) for its request, and counts as many as strace.
module Events
  COUNT = 2000
  STARTS = 40

  def self.cases(workshops)
    own = workshops.keys.find { |ruby| ruby.root.empty? }
    workshops.map { |ruby, workshop| BpfCase.new("event #{ruby.name}") { Events.compare(self, ruby, workshop) } } +
      (own ? [BpfCase.new("event starts") { Events.starts(self, own, workshops[own]) }, BpfCase.new("event outputs") { Events.outputs(self, own.program) }, BpfCase.new("event refused", needs_bpf: false) { Events.refused(self, own.program) }] : [])
  end

  def self.compare(test, ruby, workshop)
    seed = Random.new_seed % 2**31
    truth, recording, traced = recorded(test, ruby, workshop, %w[write], "writes.rb", seed, COUNT, 3)
    check(test, recording, truth, traced["write"], seed)
  end

  # The new thread, too, returns from the call that starts it.
  def self.starts(test, ruby, workshop)
    calls = %w[clone clone3 fork vfork].select { |name| system("strace", "-e", name, "true", err: File::NULL) }
    truth, recording, traced = recorded(test, ruby, workshop, calls, "starts.rb", STARTS)
    found = calls.to_h { |name| [name, recording.sum("samples") { |total| recording.stack(total).last == "#{name}(2)" }] }
    test.same("calls", traced.slice(*calls), found.select { |_, count| count.positive? })
    started = found.values.sum
    test.fail("#{started} calls started #{truth["started"]} threads and processes") if started < truth["started"]
    test.note = found.map { |name, count| "#{count} #{name}" }.join(", ")
  end

  # The program's truth, what rcore recorded of these calls, and how often strace saw each call.
  def self.recorded(test, ruby, workshop, calls, program, *arguments)
    recorder = tracer = nil
    path, log, summary = %w[calls.rec calls.log strace].map { |name| File.join(test.folder, name) }
    truth = test.truth_of(ruby, workshop, program, *arguments) do |pid|
      recorder = Process.spawn(*BpfCase::ROOT, Suite::RCORE, "record", "-e", "syscalls:#{calls.join(",")}", "-p", pid.to_s, "-o", path, *ruby.files, %i[out err] => log, pgroup: true)
      test.wait_until("recording: #{File.read(log)}") { File.exist?(path) || Process.wait(recorder, Process::WNOHANG) }
      # rcore cannot stop a process that strace has stopped.
      tracer = test.load(["strace", "-c", "-f", "-o", summary, "-p", pid.to_s], /attached/)
    end
    test.same("status of strace", true, Child.wait(tracer.pid).success?)
    # The recording ends with the program.
    test.same("status of rcore: #{File.read(log)}", true, Child.wait(recorder).success?)
    recorder = nil
    test.fail("rcore: #{File.read(log)}") unless File.read(log) =~ /\Arcore: in .* \d+ system calls; 0 records were lost[,;][^\n]*\n\z/
    traced = File.read(summary).scan(/^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)$/)
    recording = Record.read(path)
    # How long rcore counted, not the time from the first call to the last.
    test.same("seconds", File.read(log)[/in ([\d.]+) s/, 1], format("%.1f", recording.duration / 1e9))
    [truth, recording, traced.to_h { |count, name| [name, count.to_i] }]
  ensure
    Child.stop(recorder, -recorder) if recorder
  end

  def self.check(test, recording, truth, traced, seed)
    test.same("calls, seed #{seed}", traced, recording.sum("samples") { true })
    # Ruby's own writes wake its timer thread with 8 bytes, in the middle of what a request does.
    own, others = recording.totals.partition { |total| recording.stack(total).last(2) == ["IO#syswrite", "write(2)"] }
    test.fail("seed #{seed}: writes of other sizes than Ruby's own: #{others.first(3)}") unless others.all? { |total| recording.stack(total).last == "write(2)" }
    labelled = own.select { |total| recording.stack(total).include?("Object#piece") }
    found = labelled.group_by { |total| total.fetch("labels", {})["request_id"] }.transform_values { |totals| %w[samples wall].map { |key| totals.sum { |total| total[key] } } }
    test.fail("seed #{seed}: counted for #{found.keys - truth.keys}") unless (found.keys - truth.keys).empty?
    truth.each do |request, sums|
      calls, bytes = found.fetch(request, [0, 0]).zip(sums).map { |one, noted| one - noted }
      test.fail("#{request}, seed #{seed}: #{found[request]}, not #{sums}") unless calls >= 0 && bytes == calls * 8
    end
    test.note = "#{traced} calls, #{found.size} requests"
  end

  # Each format says that the numbers are calls.
  def self.outputs(test, program)
    pid = Process.spawn(program, "-e", "def tell(file); file.syswrite('x' * 7); end; loop { tell(File.open('/dev/null', 'w')); sleep 0.01 }", pgroup: true)
    test.wait_until("libruby") { File.read("/proc/#{pid}/maps").include?("libruby") }
    path = File.join(test.folder, "calls.rec")
    endings = ProfileEndings.of(Suite::RCORE) - [".firefox.json"] # which has no calls
    outputs = endings.to_h { |ending| [ending.delete_prefix("."), File.join(test.folder, "calls#{ending}")] }
    _, err, status = OffCpu.rcore("record", "--event", "syscalls:write,close", "-p", pid.to_s, "-d", "2", "-o", path, *outputs.values.flat_map { |name| ["-o", name] })
    return test.fail("status #{status}: #{err}") unless status.zero?
    texts = outputs.transform_values { |name| File.binread(name) }
    { "txt" => "Numbers are calls", "html" => "Numbers are calls", "svg" => " calls</text>", "callgrind" => "events: Calls", "speedscope.json" => '"unit":"none"', "json" => '"event":"syscalls:write,close"' }.each do |ending, words|
      test.fail("#{ending} lacks #{words.inspect}") unless texts[ending].delete("\n ").include?(words.delete(" "))
      test.fail("#{ending} lacks Object#tell") unless texts[ending].include?("Object#tell")
    end
    raw, = Open3.capture2("go", "tool", "pprof", "-raw", outputs["pb.gz"], err: File::NULL)
    test.fail("pprof: #{raw.lines.first(8).join}") unless raw.include?("calls/count[dflt] bytes/bytes")
    recording = Record.read(path)
    told = recording.totals.select { |total| recording.stack(total).last(3) == %w[Object#tell IO#syswrite write(2)] }
    test.same("bytes", 7 * told.sum { |total| total["samples"] }, told.sum { |total| total["wall"] })
    out, _, status = OffCpu.rcore("report", path, "--mode", "bytes")
    test.fail("--mode bytes: status #{status}: #{out.lines.first(3)}") unless status.zero? && out.include?("Numbers are bytes")
    { %w[--mode cpu] => "leave out '--mode cpu'", ["-o", File.join(test.folder, "calls.firefox.json")] => "use another ending" }.each do |options, words|
      _, err, status = OffCpu.rcore("report", path, *options)
      test.fail("#{options}: status #{status}: #{err}") unless status == 64 && err.include?(words)
    end
  ensure
    Child.stop(pid, -pid) if pid
  end

  def self.refused(test, program)
    Record.with_busy(program) do |pid|
      {
        %w[-e foo] => "'--event' does not accept 'foo'",
        %w[-e syscalls:] => "no system call ''",
        %w[-e syscalls:write,no_such] => "no system call 'no_such'",
        %w[-e uprobe:libc.so.6] => "FILE:FUNCTION is wanted",
        %w[-e uprobe:libc.so.6:] => "FILE:FUNCTION is wanted",
        %w[-e uprobe:libc.so.6:malloc -e syscalls:write] => "record either system calls or functions",
        %w[-e uprobe:libc.so.6:malloc --mode bytes] => "'--mode bytes' needs '--event=syscalls:NAME'",
        %w[-e syscalls:write --off-cpu] => "options '--off-cpu' and '--event' cannot be used together",
        %w[-e syscalls:write --rate 10] => "options '--event' and '--rate' cannot be used together",
        %w[-e syscalls:write --mode cpu] => "leave out '--mode cpu'",
        ["-e", "syscalls:write", "-d", "1", "-o", File.join(test.folder, "calls.firefox.json")] => "files show times",
        %w[--mode bytes] => "'--mode bytes' needs '--event=syscalls:NAME'",
      }.each do |options, line|
        out, err, status = Open3.capture3(*BpfCase::ROOT, Suite::RCORE, "record", "-p", pid.to_s, *options)
        test.same("#{options}: status", 64, status.exitstatus)
        test.same("#{options}: output", "", out)
        test.fail("#{options}: #{err.inspect}") unless err.lines.size == 1 && err.include?(line)
      end
      File.chmod(0o777, test.folder)
      err, status = Open3.capture2e(*BpfCase::ROOT, *Record::NOBODY, Suite::RCORE, "record", "-e", "syscalls:write", "-p", pid.to_s, "-d", "1")
      test.same("status without capabilities", 2, status.exitstatus)
      test.fail("#{err.inspect} is no single line that says why") unless err.lines.size == 1 && err.start_with?("rcore: --event needs BPF: ")
    end
  end
end
