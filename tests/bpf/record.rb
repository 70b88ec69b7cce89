# SPDX-License-Identifier: MIT
require_relative "../live/elsewhere"
require_relative "../sampler/case"

# Checks that each sample of `rcore record --ebpf` has the context of the moment when it was taken.
module Record
  WORK = /\A(?:Object#)?work_(\d+)\z/.freeze
  # After a fiber switch, the context is that of the previous fiber until the gem's hook has run.
  SWITCHES = /\AFiber[.#]/.freeze
  SECONDS = 2
  RATE = 1999

  def self.cases(workshops)
    workshops.map { |ruby, workshop| BpfCase.new("record contexts #{ruby.name}") { Record.contexts(self, ruby, workshop) } } +
      workshops.select { |ruby, _| ruby.version >= Gem::Version.new("3.3") }.map { |ruby, workshop| BpfCase.new("record mn #{ruby.name}") { Record.many(self, ruby, workshop) } } +
      places(workshops)
  end

  # The block gets the process that was started, and returns that of the program.
  def self.contexts(test, ruby, workshop, before: [])
    seed = Random.new_seed % 2**31
    recording = nil
    truth = test.truth_of(ruby, workshop, "switches.rb", seed, 3, before: before) do |pid, spawned|
      pid = yield(spawned) if block_given?
      recording = record(test, pid, "-d", SECONDS, "-r", RATE, *ruby.files)
    end
    seen = Hash.new(0)
    recording.totals.each do |total|
      stack = recording.stack(total)
      at = stack.rindex { |label| label =~ WORK } or next
      next if stack[at + 1..-1].any? { |label| label =~ SWITCHES }
      number = Integer(stack[at][WORK, 1])
      wanted = { "tenant" => "t#{number}", "request_id" => truth[number] }
      found = total["labels"]
      test.fail("seed #{seed}: #{stack.last(3)} has the context #{found}, not #{wanted}") unless found == wanted
      seen[number] += total["samples"]
    end
    test.fail("seed #{seed}: no samples of the methods") if seen.empty?
    test.note = "#{seen.values.sum} samples of #{seen.size} contexts"
  end

  MANY = 4 # threads of turns.rb
  # On a busy machine, a thread may get no processor during a recording. Records again until each had one, at most this often.
  ATTEMPTS = 30

  # Checks that each of several M:N threads, which take turns on kernel threads, has samples of its own method only, with and without
  # native frames.
  def self.many(test, ruby, workshop)
    counts = []
    test.truth_of(ruby, workshop, "turns.rb", environment: { "RUBY_MN_THREADS" => "1" }) do |pid|
      counts = [[], ["--native"]].map do |options|
        turns = Hash.new(0)
        ATTEMPTS.times do
          break if turns.size == MANY
          recording = record(test, pid, "-d", SECONDS, "-r", RATE, *options, *ruby.files)
          turns_of(test, recording).each { |(_, turn), samples| turns[turn] += samples }
        end
        test.same("threads with samples: #{turns}", MANY, turns.size)
        turns.values.sum
      end
    end
    test.note = "#{counts.join(" and ")} samples"
  end

  # The samples of each thread and method. Each thread has one method, and each method one thread.
  def self.turns_of(test, recording)
    seen = Hash.new(0)
    recording.totals.each do |total|
      turns = recording.stack(total).grep(/\A(?:Object#)?turn_\d\z/).uniq
      test.fail("methods of several threads: #{recording.stack(total)}") if turns.size > 1
      turns.each { |turn| seen[[recording.thread(total)["id"], turn]] += total["samples"] }
    end
    test.same("threads and their methods: #{seen}", [seen.size] * 2, seen.keys.transpose.map { |each| each.uniq.size }) if seen.any?
    seen
  end

  def self.record(test, pid, *options)
    path = File.join(test.folder, "#{rand(1 << 60)}.rec")
    _, err, status = Open3.capture3(*BpfCase::ROOT, Suite::RCORE, "record", "--ebpf=require", "-p", pid.to_s, "-o", path, *options.map(&:to_s))
    raise Debuggee::Failed, "no recording (#{status}): #{err}" unless status.success? && File.exist?(path)
    read(path)
  end

  def self.read(path)
    json = "#{path}.json"
    _, err, = Open3.capture3(*BpfCase::ROOT, Suite::RCORE, "report", path, "-o", json)
    raise Debuggee::Failed, "no report: #{err}" unless File.exist?(json)
    SamplerCase::Recording.new(JSON.parse(File.read(json), max_nesting: false))
  end

  # The cases below record in and from containers, with and without the capabilities that BPF needs.
  NOBODY = %w[setpriv --reuid=65534 --regid=65534 --clear-groups].freeze
  CAPABLE = [*NOBODY, "--inh-caps=+bpf,+perfmon", "--ambient-caps=+bpf,+perfmon"].freeze
  INSIDE = %w[unshare --pid --fork --mount-proc --kill-child].freeze

  def self.places(workshops)
    own = workshops.keys.find { |ruby| ruby.root.empty? } or return []
    workshop = workshops[own]
    {
      "container" => ->(test) { Record.contexts(test, own, workshop, before: [*LiveCase::ROOT, *INSIDE]) { |spawned| Elsewhere.descendants(spawned).find { |each| Elsewhere.inner_pid(each) == 1 } } },
      "inside a container" => ->(test) { Record.inside(test, own.program) },
      "capabilities" => ->(test) { Record.capable(test, own.program) },
      "no capabilities" => ->(test) { Record.incapable(test, own.program) },
      "traced" => ->(test) { Record.traced(test, own.program) },
      "work" => ->(test) { Record.work(test, own.program) },
      "two at once" => ->(test) { Record.twice(test, own, workshop) },
      "killed" => ->(test) { Record.killed(test, own.program) },
    }.map { |name, body| BpfCase.new("record #{name}") { body[self] } }
  end

  BUSY = "def busy = loop { }; busy".freeze

  def self.with_busy(program, before = [])
    pid = Process.spawn(*before, program, "-e", BUSY.sub(" = loop { }", "; loop { }; end"), pgroup: true)
    yield pid
  ensure
    Child.stop(pid, -pid) if pid
  end

  # Checks that a thread that is always in `busy` has samples.
  def self.check_busy(test, path)
    recording = read(path)
    inside = recording.sum("samples") { |total| recording.stack(total).include?("Object#busy") }
    test.fail("no samples of Object#busy") unless inside.positive?
  end

  # In a container, -p takes a process id of the container's pid namespace.
  def self.inside(test, program)
    path = File.join(test.folder, "inside.rec")
    script = '"$1" -e "def busy; loop { }; end; busy" & "$2" record --ebpf=require -p $! -d 1 -o "$3"'
    err, status = Open3.capture2e(*LiveCase::ROOT, *INSIDE, "sh", "-c", script, "sh", program, Suite::RCORE, path)
    return test.fail("status #{status}: #{err}") unless status.success?
    check_busy(test, path)
  end

  def self.capable(test, program)
    File.chmod(0o777, test.folder)
    path = File.join(test.folder, "capable.rec")
    with_busy(program, [*LiveCase::ROOT, *NOBODY]) do |pid|
      err, status = Open3.capture2e(*LiveCase::ROOT, *CAPABLE, Suite::RCORE, "record", "--ebpf=require", "-p", pid.to_s, "-d", "1", "-o", path)
      next test.fail("status #{status}: #{err}") unless status.success?
      check_busy(test, path)
    end
  end

  REFUSED = /the kernel does not allow it .*CAP_BPF and CAP_PERFMON$/.freeze

  def self.incapable(test, program)
    File.chmod(0o777, test.folder)
    path = File.join(test.folder, "incapable.rec")
    with_busy(program, [*LiveCase::ROOT, *NOBODY]) do |pid|
      command = [*LiveCase::ROOT, *NOBODY, Suite::RCORE, "record", "-p", pid.to_s, "-d", "1", "-o", path]
      err, status = Open3.capture2e(*command, "--ebpf=require")
      test.same("status with --ebpf=require", 2, status.exitstatus)
      test.fail("#{err.inspect} is not one line that says why") unless err.lines.size == 1 && err =~ REFUSED
      test.same("recording", false, File.exist?(path))
      out, = Open3.capture2(*LiveCase::ROOT, *NOBODY, Suite::RCORE, "doctor", "-p", pid.to_s)
      check_doctor(test, out, " does not work here: ")
      out, = Open3.capture2(*LiveCase::ROOT, Suite::RCORE, "doctor", "-p", pid.to_s)
      check_doctor(test, out, " works here")
      alone, = Open3.capture2(*LiveCase::ROOT, *NOBODY, Suite::RCORE, "doctor")
      check_doctor(test, alone, " does not work here: ")
      _, err, status = Open3.capture3(Suite::RCORE, "doctor", "--sysroot", "/")
      test.fail("doctor with an option and no target: #{status}, #{err}") unless status.exitstatus == 64
      err, status = Open3.capture2e(*command, "--ebpf")
      test.same("status with --ebpf", 0, status.exitstatus)
      test.fail("#{err.inspect} is not one line that says why and one from the sampler") unless err.lines.size == 2 && err =~ /without BPF: #{REFUSED}/
      check_busy(test, path)
    end
  end

  BPF_OPTIONS = ["--ebpf", "--ebpf --native", "--ebpf --kernel", "--off-cpu", "--event"].freeze

  # Each of the last lines of `rcore doctor` says whether an option works.
  def self.check_doctor(test, out, answer)
    lines = out.lines.last(BPF_OPTIONS.size + 1)
    BPF_OPTIONS.zip(lines) do |option, line|
      wanted = line.to_s.start_with?("rcore record #{option}#{answer}") && (answer.start_with?(" works") || line =~ REFUSED)
      test.fail("rcore doctor of #{option}: #{line}") unless wanted
    end
    test.fail("rcore doctor of --system: #{lines.last}") unless lines.last.start_with?("rcore record --system works ")
  end

  # rcore cannot stop a process that strace traces.
  def self.traced(test, program)
    with_busy(program) do |pid|
      test.wait_until("busy loop") { File.read("/proc/#{pid}/stat")[/\) R/] }
      tracer = Process.spawn(*LiveCase::ROOT, "strace", "-qq", "-f", "-e", "trace=none", "-p", pid.to_s, err: File::NULL, pgroup: true)
      test.wait_until("tracer") { File.read("/proc/#{pid}/status")[/^TracerPid:\s+[1-9]/] }
      path = File.join(test.folder, "traced.rec")
      command = [*LiveCase::ROOT, Suite::RCORE, "record", "-p", pid.to_s, "-d", "1", "-o", path]
      err, status = Open3.capture2e(*command, "--ebpf=require")
      test.same("status with --ebpf=require", 2, status.exitstatus)
      test.fail("#{err.inspect} is not one line that says why") unless err.lines.size == 1 && err.end_with?("(strace); detach that tracer\n")
      err, status = Open3.capture2e(*command, "--ebpf")
      test.same("status with --ebpf", 0, status.exitstatus)
      wanted = err.lines.size == 2 && err =~ /sampling process #{pid} without BPF: .*already traced/ && err =~ /read again/
      test.fail("#{err.inspect} is not one line that says why and one from the sampler") unless wanted
      check_busy(test, path)
      test.same("engine", "process_vm_readv, without stopping", read(path).engine)
    ensure
      Child.stop(tracer) if tracer
    end
  end

  # If no thread works on anything that has labels, --label changes neither the engine nor the messages.
  def self.work(test, program)
    with_busy(program) do |pid|
      path = File.join(test.folder, "work.rec")
      command = [*LiveCase::ROOT, Suite::RCORE, "record", "--ebpf=require", "-p", pid.to_s, "-d", "1", "-o", path]
      err, = Open3.capture2e(*command, "--label", "path")
      test.same("lines with labels", 1, err.lines.size)
      err, = Open3.capture2e(*command)
      test.same("lines without labels", 1, err.lines.size)
      test.same("engine", "BPF, in the kernel, running threads only", read(path).engine)
      text, = Open3.capture2(Suite::RCORE, "report", path)
      test.fail("it does not say whose times these are: #{text.lines[1]}") unless text.include?("s wall time of threads while they ran,")
    end
  end

  def self.twice(test, ruby, workshop)
    other = Thread.new { with_busy(ruby.program) { |pid| Record.record(test, pid, "-d", SECONDS) } }
    contexts(test, ruby, workshop)
    recording = other.value
    test.fail("the other one has no samples") unless recording.sum("samples") { |total| recording.stack(total).include?("Object#busy") }.positive?
  end

  # The kernel unloads the BPF program if rcore is killed.
  def self.killed(test, program, *options)
    with_busy(program) do |pid|
      options = ["-p", pid.to_s] if options.empty?
      recorder = Process.spawn(*LiveCase::ROOT, Suite::RCORE, "record", "--ebpf=require", *options, "-o", File.join(test.folder, "killed.rec"), err: File::NULL, pgroup: true)
      begin
        ids = []
        test.wait_until("BPF program") { (ids = programs(recorder)).any? }
      ensure
        Child.signal(:KILL, -recorder)
        Child.wait(recorder)
      end
      test.wait_until("end of the program") { ids.none? { |id| loaded?(id) } }
    end
  end

  # The ids of rcore's BPF programs in a process; libbpf loads others for a moment, to find out what the kernel can do.
  def self.programs(pid)
    ids = Dir["/proc/#{pid}/fdinfo/*"].filter_map { |file| (File.read(file) rescue "")[/^prog_id:\s+(\d+)/, 1] }.uniq
    ids.select { |id| Open3.capture2e(*LiveCase::ROOT, "bpftool", "prog", "show", "id", id).first =~ /name rcore_/ }
  end

  def self.loaded?(id)
    system(*LiveCase::ROOT, "bpftool", "prog", "show", "id", id, %i[out err] => File::NULL)
  end
end
