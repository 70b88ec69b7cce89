# SPDX-License-Identifier: MIT
require_relative "../sampler/case"
require_relative "../sampler/native"
require_relative "../sampler/times"

# Native frames in the records of the BPF program.
module BpfNative
  REQUIRE = "--ebpf=require".freeze
  RATE = 1999
  SECONDS = 1.5
  SLEEPERS = %w[sorts maps pops defines resumes enumerates deep].freeze
  # Since glibc 2.41, these frames are between a cancellation point, such as write(), and its system call.
  SYSCALL_CANCEL = /\A__(?:internal_)?syscall_cancel(?:_arch)?\z/.freeze
  SUMMARY = /; (\d+) of (\d+) native stacks could not be unwound completely;/.freeze

  class Case < SamplerCase
    def needs_bpf?
      true
    end
  end

  # Where this case's programs are.
  class StillCase < Case
    def programs
      BpfCase::PROGRAMS
    end
  end

  def self.cases(workshops)
    jits = ->(ruby) { ruby.version.segments.first(2) == [3, 1] ? [[], ["--yjit"]] : [[]] }
    own = workshops.keys.find { |ruby| ruby.root.empty? }
    (own ? [Case.new("native event") { BpfNative.event(self, own.program) }] : []) + workshops.keys.flat_map do |ruby|
      jits[ruby].flat_map do |options|
        [StillCase.new(["native still", ruby.name, *options].join(" ")) { BpfNative.still(self, ruby, options) },
         Case.new(["native shares", ruby.name, *options].join(" ")) { BpfNative.shares(self, ruby, options) }]
      end
    end
  end

  # Compares how much of each method's time on a processor is in a library with
  # what the program noted.
  def self.shares(test, ruby, options)
    test.with_program(ruby, "native.rb", SECONDS, options: options) do |pid, _, folder|
      recording = test.record_while(ruby, pid, REQUIRE, "--native", "-r", RATE) { Times.let_go(test, folder) }
      count = recording.sum("samples") { true }
      shares = Native.compare(test, *Native.times_of(test, recording), Times.notes(folder), count)
      unwound(test)
      test.note = "#{shares}; #{count} samples"
    end
  end

  # The thread is in the function that makes the call.
  def self.event(test, program)
    pid = Process.spawn(program, "-e", "def tell(file) = [1].each { file.syswrite('x' * 7) }; loop { tell(File.open('/dev/null', 'w')); sleep 0.01 }", pgroup: true)
    test.wait_until("libruby") { File.read("/proc/#{pid}/maps").include?("libruby") }
    path = File.join(test.folder, "calls.rec")
    _, err, status = test.rcore("record", "-e", "syscalls:write", "--native", "-p", pid, "-d", 2, "-o", path)
    return test.fail("status #{status}: #{err}") unless status.zero?
    recording = test.read(path)
    stacks = recording.totals.map { |total| recording.stack(total) }.select { |stack| stack.include?("Object#tell") }
    test.fail("no calls of Object#tell") if stacks.empty?
    stacks.each do |stack|
      inner = stack.drop(stack.index("Object#tell") + 1).grep_v(SYSCALL_CANCEL)
      wanted = inner.first(3) == ["Array#each", "block in Object#tell", "IO#syswrite"] && inner.last(2).join(" ") =~ /\A(?:__|__libc_|__GI___)?(?:libc_)?write write\(2\)\z/
      test.fail("stack: #{inner}") unless wanted
    end
    test.fail("#{err.inspect} counts stacks that were not unwound") unless err[SUMMARY, 1] == "0"
  ensure
    Child.stop(pid, -pid) if pid
  end

  # At most one of a hundred stacks may have a part that could not be unwound.
  def self.unwound(test)
    log = File.read(File.join(test.folder, "while.log"))
    failed, all = log.match(SUMMARY)&.captures&.map(&:to_i)
    return test.fail("no number of native stacks: #{log}") unless all&.positive?
    test.fail("#{failed} of #{all} native stacks have a part that was not unwound") if failed * 100 > all
  end

  # A thread that stays where it is has the frames that `rcore analyze` shows of it, in that order. Reports of several moments are
  # needed: up to 3.2, one of the threads that sleep waits in another function than the others, and they take turns.
  def self.still(test, ruby, options)
    test.with_program(ruby, "still.rb", options: options) do |pid, _, folder|
      reports = nil
      off = test.record_while(ruby, pid, "--off-cpu", "--native") do
        File.write(File.join(folder, "go"), "")
        reports = still_reports(test, ruby, pid, folder)
      end
      unwound(test)
      compare_sleepers(test, reports, off)
      FileUtils.rm_f(Dir[File.join(test.folder, "while*")])
      on = test.record_while(ruby, pid, REQUIRE, "--native", "-r", RATE) { sleep 1 }
      unwound(test)
      compare_spinner(test, reports.last, on)
    end
  end

  REPORTS = 3

  # What `rcore analyze` shows, several times, once each thread is where it stays: only one is not asleep.
  def self.still_reports(test, ruby, pid, folder)
    test.wait_until("still threads") { File.exist?(File.join(folder, "still")) }
    test.wait_until("sleep") { Dir["/proc/#{pid}/task/*/stat"].one? { |path| File.read(path)[/\) (\w)/, 1] != "S" } }
    Array.new(REPORTS) do
      report = nil
      # On a busy machine, some threads do not stop in time, and then have no native stack.
      test.wait_until("stacks of all threads") { (report = report_of(test, ruby, pid)) && [*SLEEPERS, "spins"].all? { |name| fiber_of(report, name)&.key?("stack") } }
      report
    end
  end

  def self.report_of(test, ruby, pid)
    out, = test.rcore("analyze", "--json", "-p", pid, *ruby.files)
    JSON.parse(out, max_nesting: false) unless out.empty?
  end

  def self.fiber_of(report, name)
    thread = report["threads"].find { |each| each["name"] == name }
    report["fibers"].find { |fiber| fiber["id"] == thread["current_fiber"] } if thread
  end

  def self.compare_sleepers(test, reports, recording)
    SLEEPERS.each do |name|
      wanted = reports.map { |report| Native.shown(fiber_of(report, name), Native.loop_of(report)) }.uniq
      found = recording.totals.select { |total| recording.thread(total)["name"] == name }.map { |total| recording.stack(total) }
      test.fail("#{name}: #{found}, not #{wanted}") if (found & wanted).empty?
    end
  end

  # Up to its innermost Ruby frame; further in, it is elsewhere each time.
  def self.compare_spinner(test, report, recording)
    wanted = outer(report_frames(report))
    own = recording.totals.select { |total| recording.thread(total)["name"] == "spins" }
    stacks = own.map { |total| outer(recording.frames(total).map { |frame| [frame["label"], frame["kind"]] }) }.uniq
    test.fail("spins: #{stacks.inspect}, not #{wanted}") unless stacks == [wanted]
  end

  def self.report_frames(report)
    fiber = fiber_of(report, "spins")
    ruby = fiber["frames"].map { |frame| frame["label"] || "block in C" }
    Native.shown(fiber, Native.loop_of(report)).map { |label| [label, ruby.include?(label) ? "ruby" : "native"] }
  end

  def self.outer(frames)
    frames[0..frames.rindex { |_, kind| kind != "native" }].map(&:first)
  end
end
