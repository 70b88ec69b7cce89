# SPDX-License-Identifier: MIT
require_relative "native"

# The kernel's frames in the records of the BPF program.
module BpfKernel
  # What a thread waits in, and the system call's function in the kernel.
  WAITS = {
    "File#flock" => ["def waits = File.open(ARGV[0]).then { |file| [1].each { file.flock(File::LOCK_EX) } }", /sys_flock\z/],
    "Kernel#sleep" => ["def waits = [1].each { sleep }", /sys_(?:ppoll|futex)\z/],
  }.freeze
  READ_FOREVER = "def waits = File.open('/dev/zero') { |file| buffer = +''; loop { file.sysread(1 << 20, buffer) } }".freeze
  HIDDEN = /\Arcore: frames of the kernel have no names, because it hides its addresses; run rcore with CAP_SYSLOG, .*\n/.freeze

  def self.cases(workshops)
    own = workshops.keys.find { |ruby| ruby.root.empty? } or return []
    { "waits" => :waits, "runs" => :runs, "hidden" => :hidden, "refused" => :refused }.map do |name, test|
      BpfNative::Case.new("kernel #{name}") { BpfKernel.send(test, self, own.program) }
    end
  end

  def self.with(test, program, code, *arguments, before: [])
    pid = Process.spawn(*before, program, "-e", "#{code}; waits", *arguments, out: File::NULL, pgroup: true)
    test.wait_until("libruby") { File.read("/proc/#{pid}/maps").include?("libruby") }
    yield pid
  ensure
    Child.stop(pid, -pid) if pid
  end

  # A thread that leaves its processor is in the function of the system call that it has made.
  def self.waits(test, program)
    file = File.join(test.folder, "locked")
    File.open(file, "w") do |held|
      held.flock(File::LOCK_EX)
      WAITS.each do |label, (code, wanted)|
        # rcore stops the thread at the beginning, so it goes to sleep again while it is recorded.
        with(test, program, code, file) { |pid| compare(test, pid, label, wanted) }
      end
    end
  end

  def self.compare(test, pid, label, wanted)
    path = File.join(test.folder, "#{rand(1 << 60)}.rec")
    recorder = Process.spawn(*LiveCase::ROOT, Suite::RCORE, "record", "--off-cpu", "--native", "--kernel", "-p", pid.to_s, "-o", path, %i[out err] => "#{path}.log")
    test.wait_until("recording: #{File.read("#{path}.log")}") { File.exist?(path) || Process.wait(recorder, Process::WNOHANG) }
    # A stop interrupts the call, which begins again.
    2.times do
      %i[STOP CONT].each { |signal| Child.signal(signal, pid) && sleep(0.2) }
    end
    Child.signal(:INT, recorder)
    Child.wait(recorder)
    recorder = nil
    recording = test.read(path)
    stacks = recording.totals.map { |total| recording.frames(total) }.select { |frames| frames.any? { |frame| frame["label"] == label } }
    found = stacks.map { |frames| frames.select { |frame| frame["kind"] == "kernel" }.map { |frame| frame["label"] } }
    test.fail("#{label}: #{found.uniq}") unless found.any? { |labels| labels.grep(wanted).any? }
    test.fail("#{label} shows how the program is run: #{found.uniq}") if found.flatten.grep(/bpf|__traceiter/).any?
    ordered = stacks.all? { |frames| frames.slice_when { |a, b| (a["kind"] == "kernel") != (b["kind"] == "kernel") }.to_a.size <= 2 }
    test.fail("#{label}: the kernel's frames are not the innermost") unless ordered
    folded = "#{path}.folded"
    test.rcore("report", path, "-o", folded)
    test.fail("no _[k] in #{File.read(folded).lines.first}") unless File.read(folded) =~ /;\w*sys_\w+_\[k\];/
  ensure
    Child.stop(recorder) if recorder
  end

  # One that runs in the kernel is in the functions that read.
  def self.runs(test, program)
    with(test, program, READ_FOREVER) do |pid|
      path, pprof = %w[runs.rec runs.pb.gz].map { |name| File.join(test.folder, name) }
      _, err, status = test.rcore("record", "--ebpf=require", "--kernel", "-r", 999, "-p", pid, "-d", 1, "-o", path, "-o", pprof)
      return test.fail("status #{status}: #{err}") unless status.zero?
      recording = test.read(path)
      kernel = recording.totals.flat_map { |total| recording.frames(total) }.select { |frame| frame["kind"] == "kernel" }
      test.fail("no vfs_read in #{kernel.map { |frame| frame["label"] }.uniq}") unless kernel.any? { |frame| frame["label"] == "vfs_read" && frame["path"] == "[kernel.kallsyms]" }
      raw, = Open3.capture2("go", "tool", "pprof", "-raw", pprof, err: File::NULL)
      test.fail("pprof: #{raw[/^Mappings.*/m]}") unless raw =~ /^Mappings\n1: .*\[kernel\.kallsyms\]/
    end
  end

  # Without CAP_SYSLOG, one line says that there are no names, and one frame that the thread was in the kernel.
  def self.hidden(test, program)
    File.chmod(0o777, test.folder)
    shown, = Open3.capture2(*LiveCase::ROOT, *Record::CAPABLE, "sh", "-c", "head -1 /proc/kallsyms")
    return test.note = "this kernel hides nothing" unless shown.start_with?("0000000000000000 ")
    with(test, program, READ_FOREVER, before: [*LiveCase::ROOT, *Record::NOBODY]) do |pid|
      path = File.join(test.folder, "hidden.rec")
      err, status = Open3.capture2e(*LiveCase::ROOT, *Record::CAPABLE, Suite::RCORE, "record", "--ebpf=require", "--kernel", "-p", pid.to_s, "-d", "1", "-o", path)
      return test.fail("status #{status}: #{err}") unless status.success?
      test.fail("#{err.inspect} has not one line that says so") unless err =~ HIDDEN && err.lines.size == 2
      recording = Record.read(path)
      stacks = recording.totals.map { |total| recording.frames(total).select { |frame| frame["kind"] == "kernel" }.map { |frame| frame["label"] } }
      wanted = stacks.flatten.any? && stacks.all? { |labels| [[], ["[unknown]"]].include?(labels) }
      test.fail("the kernel's frames of each stack: #{stacks.uniq}") unless wanted
    end
  end

  def self.refused(test, program)
    Record.with_busy(program) do |pid|
      {
        %w[--kernel] => "'--kernel' needs BPF: '--ebpf', '--off-cpu', or '--system' without '--ebpf=no'",
        %w[--kernel -e syscalls:write] => "options '--event' and '--kernel' cannot be used together",
      }.each do |options, line|
        _, err, status = test.rcore("record", "-p", pid, *options)
        test.same("#{options}: status", 64, status)
        test.fail("#{options}: #{err.inspect}") unless err.lines.size == 1 && err.include?(line)
      end
    end
  end
end
