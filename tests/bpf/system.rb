# SPDX-License-Identifier: MIT
require "zlib"
require_relative "../support/profile_endings"
require_relative "record"

# `rcore record --system`: several Rubies at once. There may be others on the machine, at least the one that runs this.
module BpfSystem
  RATE = 999
  # A process's share of the samples may differ from its share of the CPU time
  # by this many standard deviations.
  SIGMAS = 5
  WORK = /\A(?:Object#)?(?:work|warm)_(\d+_\d+)\z/.freeze
  # In a system call that writes one byte, Ruby may also write such a number to an eventfd, to wake another thread.
  WAKE_UP_BYTES = 8
  CONTAINER = [*LiveCase::ROOT, *Record::INSIDE].freeze

  # One program of these tests: its process, as the machine sees it, and its truth.
  Guest = Struct.new(:number, :pid, :truth, :thread, :go, :title) do
    # Begins its work, and waits for its end. The program stays.
    def work(test)
      Child.signal(:USR1, pid)
      test.wait_until("work") { File.exist?("/proc/#{pid}/cwd/truth.json") }
    end
  end

  def self.cases(workshops)
    own = workshops.keys.find { |ruby| ruby.root.empty? } or return []
    {
      "shares" => ->(test) { BpfSystem.shares(test, workshops) },
      "calls" => ->(test) { BpfSystem.calls(test, workshops) },
      "off-cpu and native" => ->(test) { BpfSystem.together(test, workshops) },
      "two at once" => ->(test) { BpfSystem.twice(test, workshops) },
      "open files" => ->(test) { BpfSystem.open_files(test, own.program) },
      "titles" => ->(test) { BpfSystem.titles(test, own.program) },
      "inside a container" => ->(test) { BpfSystem.inside(test, own.program) },
      "killed" => ->(test) { Record.killed(test, own.program, "--system") },
      "start and end" => ->(test) { BpfSystem.come_and_go(test, own.program) },
      "left out" => ->(test) { BpfSystem.left_out(test, own.program) },
      "refused" => ->(test) { BpfSystem.refused(test, own.program) },
      "capabilities" => ->(test) { BpfSystem.capable(test, own.program) },
      "without BPF" => ->(test) { BpfSystem.incapable(test, own.program) },
      "usage" => ->(test) { BpfSystem.usage(test) },
    }.map { |name, body| BpfCase.new("system #{name}") { body[self] } }
  end

  # Runs `count` programs on each Ruby, and another one in a container. The block gets them once they run.
  def self.with_guests(test, workshops, count: 1)
    seed = Random.new_seed % 2**31
    guests = []
    places = workshops.flat_map { |ruby, workshop| [[ruby, workshop, []]] * count }
    folder = workshops.find { |ruby, _| !ruby.root.empty? }
    places << [*folder, CONTAINER] if folder
    places.each_with_index { |(ruby, workshop, before), number| guests << start(test, ruby, workshop, before, seed + number, number) }
    yield guests, seed
  ensure
    guests.each { |guest| Child.signal(:USR1, guest.pid) unless guest.truth }
    guests.each { |guest| guest.go << true }
    guests.each { |guest| guest.thread.join }
  end

  def self.start(test, ruby, workshop, before, seed, number)
    guest = Guest.new("#{seed}_#{number}", nil, nil, nil, Queue.new)
    started = Queue.new
    guest.thread = Thread.new do
      test.truth_of(ruby, workshop, "host.rb", seed, number, before: before) do |pid, spawned|
        guest.pid = before.empty? ? pid : Elsewhere.descendants(spawned).find { |each| Elsewhere.inner_pid(each) == 1 }
        guest.title = Child.command_line(guest.pid)
        started << true
        guest.go.pop
      end
    rescue StandardError => error
      test.fail("#{ruby.name}: #{error.message}")
      started << false
    end
    started.pop or raise Debuggee::Failed, "#{ruby.name} did not start"
    guest
  end

  # Records until the block has ended.
  def self.record(test, *options, name: "system")
    path = File.join(test.folder, "#{name}.rec")
    log = "#{path}.log"
    recorder = Process.spawn(*LiveCase::ROOT, Suite::RCORE, "record", "--system", "-o", path, *options.map(&:to_s), %i[out err] => log)
    test.wait_until("recording: #{File.read(log)}") { File.exist?(path) || Process.wait(recorder, Process::WNOHANG) }
    yield path
    Child.signal(:INT, recorder)
    status = Child.wait(recorder)
    recorder = nil
    test.fail("status #{status}: #{File.read(log)}") unless status.success?
    [path, File.read(log)]
  ensure
    Child.stop(recorder) if recorder
  end

  # Waits until each has samples, so that all of its work will be sampled.
  def self.wait_for_samples(test, path, guests)
    test.wait_until("samples of all in #{path}") do
      recording = Record.read(path)
      seen = recording.totals.map { |total| recording.thread(total)["pid"] }
      guests.all? { |guest| seen.include?(guest.pid) }
    end
  end

  def self.work(test, guests)
    guests.map { |guest| Thread.new { guest.work(test) } }.each(&:join)
    guests.each { |guest| guest.truth = JSON.parse(File.read("/proc/#{guest.pid}/cwd/truth.json")) }
  end

  # Checks that each sample belongs to its process. Returns how many samples each has of its work, or of a method `inside` it.
  def self.check(test, recording, guests, seed, inside: nil, &amount)
    amount ||= ->(total) { total["samples"] }
    counts = Hash.new(0)
    by_pid = guests.to_h { |guest| [guest.pid, guest] }
    bare = 0
    recording.totals.each do |total|
      stack, thread = recording.stack(total), recording.thread(total)
      guest = by_pid[thread["pid"]]
      found = stack.compact.map { |label| label[WORK, 1] }.compact.uniq
      # The same test may run a second time on this machine.
      wrong = guest ? found - [guest.number] : found & guests.map(&:number)
      test.fail("seed #{seed}: #{stack} in process #{thread["pid"]}") unless wrong.empty?
      next unless guest && stack.grep(/work_/).any?
      # A context that could not be read is missing; it is never that of another process.
      next bare += 1 unless total["labels"]
      test.fail("seed #{seed}: context #{total["labels"]} in process #{guest.number}") unless total["labels"] == { "tenant" => "p#{guest.number}" }
      test.fail("title #{thread["title"]}, not #{guest.title}") unless thread["title"] == guest.title
      counts[guest] += amount[total] if !inside || stack.include?(inside)
    end
    test.fail("seed #{seed}: #{bare} of #{recording.totals.size} stacks without a context") if bare > 1 + recording.totals.size / 100
    counts
  end

  # Two processes of each build: rcore looks at the second one in a shorter way.
  def self.shares(test, workshops)
    with_guests(test, workshops, count: 2) do |guests, seed|
      path, = record(test, "--ebpf=require", "--by", "nothing", "-r", RATE) do |file|
        wait_for_samples(test, file, guests)
        work(test, guests)
      end
      counts = check(test, Record.read(path), guests, seed)
      samples, cpu = counts.values.sum, guests.sum { |guest| guest.truth["cpu"] }
      z = guests.map do |guest|
        share = guest.truth["cpu"].fdiv(cpu)
        (counts[guest] - share * samples) / Math.sqrt(samples * share * (1 - share))
      end
      test.fail("seed #{seed}: #{z.map { |each| each.round(1) }} standard deviations from the shares") unless z.all? { |each| each.abs < SIGMAS }
      outputs(test, path, guests)
      test.note = "#{samples} samples of #{guests.size} processes, at most #{z.map(&:abs).max.round(1)} standard deviations"
    end
  end

  # Each output names each process.
  def self.outputs(test, path, guests)
    ProfileEndings.of(Suite::RCORE).each do |ending|
      output = path + ending
      _, err, status = Open3.capture3(*LiveCase::ROOT, Suite::RCORE, "report", path, "-a", "-o", output)
      next test.fail("#{ending}: status #{status}: #{err}") unless status.success?
      text = File.binread(output)
      text = Zlib.gunzip(text) if ending == ".pb.gz"
      text = text.force_encoding("UTF-8").scrub
      missing = guests.reject { |guest| text.include?("host.rb #{guest.title.split[-2, 2].join(" ")}") && text.include?(guest.pid.to_s) }
      test.fail("#{ending} names no #{missing.map(&:title)}") unless missing.empty? || ending == ".pb.gz"
      test.fail("#{ending} has no title of #{guests.first.title}") unless text.include?(guests.first.title.split[-2, 2].join(" "))
    end
  end

  LOST = /; (\d+) records? (?:was|were) lost/.freeze

  # Each system call of each process counts once.
  def self.calls(test, workshops)
    with_guests(test, workshops) do |guests, seed|
      path, err = record(test, "-e", "syscalls:write", name: "calls") do |file|
        wait_for_samples(test, file, guests)
        work(test, guests)
      end
      counts = check(test, Record.read(path), guests, seed, inside: "IO#syswrite") { |total| total["samples"] - (total["wall"] - total["samples"]) / (WAKE_UP_BYTES - 1) }
      missing = guests.map { |guest| guest.truth["writes"] - counts[guest] }
      lost = Integer(err[LOST, 1])
      test.fail("seed #{seed}: #{missing} calls are missing, and #{lost} records were lost") unless missing.min >= 0 && missing.sum <= lost
      test.note = "#{counts.values.sum} calls, #{lost} records lost"
    end
  end

  # Records where threads wait, and native frames, of all of them.
  def self.together(test, workshops)
    with_guests(test, workshops) do |guests, seed|
      waits, = record(test, "--off-cpu", name: "waits") do
        native, = record(test, "--ebpf=require", "--native", "--kernel", "-r", RATE, name: "native") { |file| wait_for_samples(test, file, guests) }
        recording = Record.read(native)
        check(test, recording, guests, seed)
        kinds = recording.totals.flat_map { |total| recording.frames(total) }.map { |frame| frame["kind"] }.uniq
        test.fail("no native frames: #{kinds}") unless (%w[native kernel] - kinds).empty?
      end
      recording = Record.read(waits)
      check(test, recording, guests, seed)
      asleep = guests.reject { |guest| recording.totals.any? { |total| recording.thread(total)["pid"] == guest.pid && recording.stack(total).include?("Kernel#sleep") } }
      test.fail("#{asleep.map(&:title)} did not wait") unless asleep.empty?
    end
  end

  def self.twice(test, workshops)
    with_guests(test, workshops) do |guests, seed|
      first, = record(test, "--ebpf=require", "-r", RATE, name: "first") do |one|
        second, = record(test, "--ebpf=require", "-r", RATE, name: "second") do |other|
          [one, other].each { |file| wait_for_samples(test, file, guests) }
          work(test, guests)
        end
        counts = check(test, Record.read(second), guests, seed)
        test.fail("seed #{seed}: the second one lacks processes") unless counts.size == guests.size
      end
      counts = check(test, Record.read(first), guests, seed)
      test.fail("seed #{seed}: the first one lacks processes") unless counts.size == guests.size
    end
  end

  # In a pid namespace, only its processes are there, by their ids in it. Without any, one line says so.
  def self.inside(test, program)
    path = File.join(test.folder, "inside.rec")
    script = '"$1" -e "def busy; loop { }; end; busy" & "$2" record --system --ebpf=require -d 1 -o "$3"'
    err, status = Open3.capture2e(*CONTAINER, "sh", "-c", script, "sh", program, Suite::RCORE, path)
    return test.fail("status #{status}: #{err}") unless status.success?
    Record.check_busy(test, path)
    recording = Record.read(path)
    pids = recording.totals.map { |total| recording.thread(total)["pid"] }.uniq
    test.fail("processes #{pids}") unless pids.size == 1 && pids.first < 10
    out, err, status = Open3.capture3(*CONTAINER, Suite::RCORE, "record", "--system", "-d", "1")
    test.same("without Ruby", ["", "rcore: no Ruby process found; `rcore ps` lists those that rcore can see\n", 3], [out, err, status.exitstatus])
  end

  RENAMED = '$0 = "before"; trap(:USR1) { $0 = "after" }; loop { sleep 0.01; 9999.times { } }'.freeze

  # However samples are taken, a process has the last of its titles.
  def self.titles(test, program)
    %w[--ebpf=require --ebpf=no --off-cpu --event=syscalls:clock_nanosleep,futex,ppoll,pselect6].each_with_index do |mode, index|
      pid = Process.spawn(program, "--disable-gems", "-e", RENAMED, pgroup: true)
      test.wait_until("title") { Child.command_line(pid) == "before" }
      title = nil
      record(test, mode, name: "titles#{index}") do |file|
        wait_for_samples(test, file, [Guest.new(0, pid)])
        Child.signal(:USR1, pid)
        test.wait_until("#{mode}: a new title, not #{title}") do
          recording = Record.read(file)
          title = recording.totals.map { |total| recording.thread(total) }.find { |thread| thread["pid"] == pid }["title"]
          title == "after"
        end
      end
    ensure
      Child.stop(pid, -pid) if pid
    end
  end

  # Limits of open files, soft and hard, which all threads together exceed: with BPF no thread needs one, and rcore raises the soft limit.
  LIMITS = { "100:100" => %w[--ebpf=require --off-cpu], "64:1024" => %w[--ebpf=no] }.freeze
  CROWD = "40.times { Thread.new { sleep } }; File.write($$.to_s, $$); def busy; loop { }; end; busy".freeze

  def self.open_files(test, program)
    script = <<~'SHELL'
      for i in 1 2 3 4; do "$1" --disable-gems -e "$2" & done
      until [ $(ls | wc -l) = 4 ]; do sleep 0.05; done
      shift 2
      exec prlimit "$@"
    SHELL
    LIMITS.flat_map { |limit, modes| modes.map { |mode| [limit, mode] } }.each do |limit, mode|
      folder = FileUtils.mkdir(File.join(test.folder, "files#{mode}")).first
      path = "#{folder}.rec"
      err, status = Open3.capture2e(*CONTAINER, "sh", "-c", script, "sh", program, CROWD, "--nofile=#{limit}", Suite::RCORE, "record", "--system", mode, "-d", "2", "-o", path, chdir: folder)
      next test.fail("#{mode}: status #{status}: #{err}") unless status.success?
      recording = Record.read(path)
      test.same("#{mode}: processes", "4", recording.facts["system"])
    end
  end

  # Processes that fork and execute Ruby, and end before the recording does.
  def self.come_and_go(test, program)
    late = "def late; loop { }; end; late"
    path, = record(test, "--ebpf=require", name: "late") do |file|
      pids = [
        Process.spawn(program, "-e", late, pgroup: true),
        Process.spawn("sh", "-c", "sleep 2; exec #{program} -e '#{late}'", pgroup: true),
      ]
      forked = IO.popen([program, "-e", "def late; loop { }; end; puts fork { late }; $stdout.flush; sleep"], pgroup: true)
      pids << (child = Integer(forked.gets))
      test.wait_until("samples of all in #{file}") do
        recording = Record.read(file)
        seen = recording.totals.select { |total| recording.stack(total).include?("Object#late") }.map { |total| recording.thread(total)["pid"] }
        pids.all? { |pid| seen.include?(pid) }
      end
    ensure
      [*pids.to_a[0, 2], forked&.pid].compact.each { |pid| Child.stop(pid, -pid) }
      forked&.close rescue Errno::ECHILD
      test.wait_until("end of #{child}") { !File.exist?("/proc/#{child}") } if child
    end
    recording = Record.read(path)
    seen = recording.totals.select { |total| recording.stack(total).include?("Object#late") }.map { |total| recording.thread(total)["pid"] }.uniq
    test.fail("samples of #{seen.size} processes are kept") unless seen.size == 3
  end

  # A line names what cannot be sampled: here, a Ruby of the future.
  def self.left_out(test, program)
    library = File.read("/proc/self/maps")[%r{ (/\S*/libruby[^/\s]*)$}, 1] or return test.note = "this Ruby has no libruby"
    release = RUBY_VERSION
    future = release.sub(/\A\d/, "9")
    File.binwrite(File.join(test.folder, File.basename(library)[/.*\.so\.\d+\.\d+/]), File.binread(library).gsub(release.b, future.b))
    busy = "def busy; loop { }; end; busy"
    path = File.join(test.folder, "left.rec")
    script = <<~'SHELL'
      LD_LIBRARY_PATH=$1 "$2" --disable-gems -e "$3" &
      "$2" --disable-gems -e "$3" &
      until grep -q "$1" /proc/2/maps && grep -q /libruby /proc/3/maps; do sleep 0.05; done
      shift 3
      exec "$@"
    SHELL
    err, status = Open3.capture2e(*CONTAINER, "sh", "-c", script, "sh", test.folder, program, busy, Suite::RCORE, "record", "--system", "--ebpf=require", "-d", "2", "-o", path)
    return test.fail("status #{status}: #{err}") unless status.success?
    lines = err.lines.grep(/could not be sampled/)
    test.fail("#{err.inspect} does not name it") unless lines.size == 1 && lines.first =~ /\Arcore: 1 Ruby process could not be sampled: 2 \(.*\): Ruby #{Regexp.escape(future)} is newer/
    recording = Record.read(path)
    test.same("processes with samples", [3], recording.totals.map { |total| recording.thread(total)["pid"] }.uniq)
  end

  # BPF cannot sample a process that is traced. Only what it runs is sampled
  # then, unless that would need a stop for each sample.
  def self.refused(test, program)
    script = <<~'SHELL'
      "$1" --disable-gems -e "Thread.new { sleep }; def busy; loop { }; end; busy" secret &
      strace -qq -f -e trace=none -p $! 2>/dev/null &
      until grep -q "TracerPid:.[1-9]" /proc/2/status && grep -q /libruby /proc/2/maps; do sleep 0.05; done
      sleep 0.5
      shift
      exec "$@"
    SHELL
    path = File.join(test.folder, "refused.rec")
    command = [*CONTAINER, "sh", "-c", script, "sh", program, Suite::RCORE, "record", "--system", "-d", "2", "-o", path]
    err, status = Open3.capture2e(*command, "--native", "--redact=all")
    test.same("--native: status", 2, status.exitstatus)
    test.fail("--native: #{err.inspect}") unless err =~ /^rcore: 1 Ruby process could not be sampled: 2: .*already traced/ && !err.include?("secret")
    err, status = Open3.capture2e(*command)
    return test.fail("status #{status}: #{err}") unless status.success? && err =~ /^rcore: sampling process 2 without BPF: /
    Record.check_busy(test, path)
    test.same("states", [], Record.read(path).totals.map { |total| total["state"] }.uniq - %w[running gc])
  end

  # A user samples only own processes, and a line says how many belong to
  # others.
  def self.capable(test, program)
    File.chmod(0o777, test.folder)
    path = File.join(test.folder, "capable.rec")
    Record.with_busy(program) do |other|
      Record.with_busy(program, [*LiveCase::ROOT, *Record::NOBODY]) do |pid|
        err, status = Open3.capture2e(*LiveCase::ROOT, *Record::CAPABLE, Suite::RCORE, "record", "--system", "--ebpf=require", "-d", "2", "-o", path)
        next test.fail("status #{status}: #{err}") unless status.success?
        Record.check_busy(test, path)
        pids = (recording = Record.read(path)).totals.map { |total| recording.thread(total)["pid"] }.uniq
        test.fail("samples of #{pids}") unless pids.include?(pid) && !pids.include?(other)
        test.fail("#{err.inspect} counts no others") unless err.lines.size == 2 && err =~ /^rcore: [1-9]\d* Ruby process(?:es)? could not be sampled: \d+ \(/
      end
    end
  end

  # One line says why there is no BPF, and all processes are sampled nevertheless.
  def self.incapable(test, program)
    File.chmod(0o777, test.folder)
    path = File.join(test.folder, "incapable.rec")
    Record.with_busy(program, [*LiveCase::ROOT, *Record::NOBODY]) do |pid|
      command = [*LiveCase::ROOT, *Record::NOBODY, Suite::RCORE, "record", "--system", "-d", "1", "-o", path]
      err, status = Open3.capture2e(*command, "--ebpf=require")
      test.same("status with --ebpf=require", 2, status.exitstatus)
      test.fail("#{err.inspect} is no single line that says why") unless err.lines.size == 1 && err =~ Record::REFUSED
      err, status = Open3.capture2e(*command, "--native")
      test.same("status with --native", 2, status.exitstatus)
      test.fail("#{err.inspect} is no single line about --native") unless err.lines.size == 1 && err =~ /'--system --native' needs BPF: #{Record::REFUSED}/
      err, status = Open3.capture2e(*command)
      test.same("status", 0, status.exitstatus)
      test.fail("#{err.inspect} has not one line that says why") unless err.lines.first =~ /without BPF: #{Record::REFUSED}/
      Record.check_busy(test, path)
      recording = Record.read(path)
      test.same("engine", "process_vm_readv, without stopping", recording.engine)
      test.fail("no samples of #{pid}") unless recording.totals.any? { |total| recording.thread(total)["pid"] == pid }
    end
  end

  USAGE = {
    %w[-p 1] => "option '-p' cannot be used with '--system'",
    %w[--children] => "option '--children' cannot be used with '--system'",
    %w[-- ruby] => "a command cannot be used with '--system'",
    %w[--ebpf=no --native] => "'--system --native' needs BPF",
    %w[--ebpf=no --off-cpu] => "'--off-cpu' needs BPF: leave out '--ebpf=no'",
    %w[--ebpf=no -e syscalls:write] => "'--event' needs BPF: leave out '--ebpf=no'",
    %w[--ebpf=no --kernel] => "'--kernel' needs BPF: '--ebpf', '--off-cpu', or '--system' without '--ebpf=no'",
  }.freeze

  def self.usage(test)
    USAGE.each do |options, line|
      err, status = Open3.capture2e(*LiveCase::ROOT, Suite::RCORE, "record", "--system", "-d", "1", *options)
      test.same("#{options}: status", 64, status.exitstatus)
      test.fail("#{options}: #{err.inspect}") unless err.lines.size == 1 && err.include?(line)
    end
  end
end
