# SPDX-License-Identifier: MIT

# rcore pack -p: the report of the pack, without any file of the target, is that of the process.
module Packed
  FIXTURES = %w[asleep threads mn_threads waits waits_scheduler fibers enumerators ended ractors deep many_fibers yjit contexts
                locals exceptions storage async].freeze
  TEXT = %w[-v --all --native all].freeze
  MODES = %w[secrets strings].freeze
  PACKS = 10
  ENDS = 20

  def self.cases(rubies)
    Fixture.all.select { |fixture| FIXTURES.include?(fixture.name) }.flat_map do |fixture|
      Draw.of(rubies.select { |ruby| fixture.runs_on?(ruby.version) }, 1, "packed #{fixture.name}").map do |ruby|
        LiveCase.new("packed #{fixture.name} #{ruby.name}") { Packed.test(self, fixture, ruby) }
      end
    end + rubies.flat_map do |ruby|
      [LiveCase.new("packed busy #{ruby.name}") { Packed.busy(self, ruby) },
       LiveCase.new("packed and ended #{ruby.name}") { Packed.ended(self, ruby) }]
    end + Draw.of(rubies, 1, "packed unread").map { |ruby| LiveCase.new("packed unread #{ruby.name}") { Packed.unread(self, ruby) } }
  end

  def self.test(test, fixture, ruby)
    workshop = Workshop.new(ruby)
    folder = workshop.make(fixture)
    ending = fixture.options["end"] == "sleep" ? :sleep : :stop
    Moment::LiveDebuggee.new(ruby, fixture, nil, ending, folder).run do |debuggee|
      [[], *MODES.map { |mode| ["--redact", mode] }, %w[--no-stop], PACK].each do |options|
        same(test, debuggee, [*fixture.analyze, *options], options.join(" "))
      end
      again(test, debuggee, fixture.analyze)
      in_gdb(test, debuggee, ruby)
    end
  ensure
    workshop.remove(folder) if folder
    workshop.close if workshop
  end

  # What only rcore pack understands, and what no pack does.
  PACK, PROCESS = %w[--heap --max-pause=2000].freeze, %w[--no-stop].freeze

  def self.same(test, debuggee, options, what)
    live = text(test, "-p", debuggee.pid, options - PACK)
    packed = debuggee.file("packed#{what.tr(' ', '-')}")
    LiveCase::LOOKS.times do
      pack(test, debuggee.pid, packed, options)
      break unless test.rcore(packed).first.match?(LiveCase::BUSY)
    end
    found = text(test, packed, "--sysroot", nothing(debuggee), options - PACK - PROCESS)
    wanted = live.sub("process #{debuggee.pid}", packed).sub("]  ", "]  pid #{debuggee.pid}  ")
    # For how long it was stopped.
    wanted, found = [wanted, found].map { |report| report.sub(/, for [\d.]+ ms$/, "") }
    wanted, found = [wanted, found].map(&:lines)
    wanted.zip(found) { |one, other| break test.fail("#{what}:\n-#{one}+#{other}") unless one == other }
    test.same("#{what}: lines", wanted.size, found.size)
    same_json(test, debuggee, packed, options, what)
  end

  def self.same_json(test, debuggee, packed, options, what)
    live, = test.report("-p", debuggee.pid, *(options - PACK))
    found, = test.report(packed, "--sysroot", nothing(debuggee), *(options - PACK - PROCESS))
    return unless live && found
    (live.keys | found.keys).each do |part|
      next if %w[source producer modules].include?(part)
      mine, other = [live, found].map { |report| part == "live" ? report[part].merge("pause_ns" => 0) : report[part] }
      Moment.same_parts(test, "#{what} #{part}", mine, other)
    end
    test.same("#{what}: pid", debuggee.pid, found["pid"])
  end

  # A pack of the pack says the same of the process as the pack.
  def self.again(test, debuggee, options)
    file = debuggee.file("again")
    words = [debuggee.file("packed"), "--sysroot", nothing(debuggee), *options]
    said, status = Open3.capture2e(Suite::RCORE, "pack", "-o", file, *words.map(&:to_s), binmode: true)
    test.fail("rcore pack of the pack: #{status.inspect} #{said}") unless [0, 1].include?(status.exitstatus)
    wanted, found = [words, [file, *words.drop(1)]].map { |all| text(test, *all).sub(all[0], "") }.map(&:lines)
    wanted.zip(found) { |one, other| break test.fail("packed again:\n-#{one}+#{other}") unless one == other }
    test.same("packed again: lines", wanted.size, found.size)
  end

  # A core like any other: gdb finds the threads and their libraries.
  def self.in_gdb(test, debuggee, ruby)
    out, = Open3.capture2e("gdb", "-q", "-nx", "-batch", "-ex", "set sysroot #{ruby.root.empty? ? "/" : ruby.root}", "-ex", "core-file #{debuggee.file("packed")}",
                           "-ex", "info threads", "-ex", "info sharedlibrary", binmode: true)
    tids = Dir.children("/proc/#{debuggee.pid}/task")
    test.same("gdb's threads", tids.size, out.scan(/LWP (\d+)/).flatten.uniq.count { |tid| tids.include?(tid) })
    test.fail("gdb finds no libraries: #{out}") unless out.include?("libc.so.6")
  end

  def self.nothing(debuggee)
    debuggee.file("nothing").tap { |folder| Dir.mkdir(folder) unless Dir.exist?(folder) }
  end

  # The programs of tests/truth stop themselves; busy ones may be looked at while the collector works.
  NOTES = /\Arcore: (?:copied \d+ MB; the process was stopped |a signal has stopped process \d+ |not everything could be )/

  def self.text(test, *words)
    out, err, status = test.looked(*TEXT, *words.flatten)
    test.fail("rcore analyze #{words.join(' ')}: #{status} #{err}") unless [0, 1].include?(status) && err.lines.grep_v(NOTES).empty?
    out
  end

  # Returns its exit status.
  def self.pack(test, pid, file, options = [], statuses: [0, 1], under: [])
    said, status = Open3.capture2e(*LiveCase::ROOT, *under, Suite::RCORE, "pack", "-p", pid.to_s, "-o", file, *options.map(&:to_s), binmode: true)
    test.fail("rcore pack: #{status.inspect} #{said}") unless statuses.include?(status.exitstatus) && said.lines.grep_v(NOTES).size == 1
    status.exitstatus
  end

  # What was whole when it was packed is whole in the pack, and the process
  # continues.
  def self.busy(test, ruby)
    test.with_program(ruby, "busy.rb") do |pid, counter, folder|
      whole = 0
      PACKS.times do |number|
        file = File.join(folder, "#{number}.core")
        wanted = pack(test, pid, file)
        _, status = test.report(file, "--sysroot", folder)
        test.same("exit status of the pack", wanted, status)
        whole += 1 if status.zero?
        test.goes_on(counter)
      end
      test.note = "#{whole} of #{PACKS} complete"
    end
  end

  # How long a pack takes here.
  def self.duration(test, ruby)
    test.with_program(ruby, "busy.rb") do |pid, _, folder|
      start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      pack(test, pid, File.join(folder, "pack.core"))
      Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
    end
  end

  # The process is killed at any moment: there is a whole pack, or none and one line that says why.
  def self.ended(test, ruby)
    random = Random.new(1)
    time = duration(test, ruby)
    packs = (0...ENDS).count do |number|
      test.with_program(ruby, "busy.rb") do |pid, _, folder, spawned|
        file = File.join(folder, "pack.core")
        before = Dir.children(folder)
        killer = Thread.new { sleep(random.rand * 1.5 * time); Child.signal(:KILL, -spawned) }
        status = pack(test, pid, file, statuses: [0, 1, 2])
        killer.join
        test.same("#{number}: a pack with status #{status}", status < 2, File.exist?(file))
        left = Dir.children(folder) - before - %w[pack.core]
        test.fail("left: #{left}") unless left.empty?
        test.same("#{number}: status of its report", status, test.report(file, "--sysroot", folder).last) if status < 2
        status < 2
      end
    end
    test.note = "#{packs} of #{ENDS} packed"
  end

  # From a read that is drawn on, so many find no process, as while it ends. strace makes them fail; it counts those of each thread of rcore.
  UNREAD = 100

  def self.unread(test, ruby)
    packs = 0
    test.with_program(ruby, "busy.rb") do |pid, _, folder|
      file, calls = %w[pack.core calls].map { |name| File.join(folder, name) }
      strace = ["strace", "-f", "-qq", "-o", calls, "-e", "trace=process_vm_readv"]
      pack(test, pid, file, under: strace)
      # strace counts up to 65,535.
      reads = [File.readlines(calls).map(&:to_i).tally.values.max, 65_000].min
      packs = (0...ENDS).count do
        FileUtils.rm_f(file)
        first = rand(1..reads)
        status = pack(test, pid, file, statuses: [0, 1, 2], under: [*strace, "-e", "inject=process_vm_readv:error=ESRCH:when=#{first}..#{first + UNREAD}"])
        test.same("from read #{first} of #{reads} on: a pack with status #{status}", status < 2, File.exist?(file))
        test.same("from read #{first} of #{reads} on: status of its report", status, test.report(file, "--sysroot", folder).last) if status < 2
        status < 2
      end
    end
    test.note = "#{packs} of #{ENDS} packed"
  end
end
