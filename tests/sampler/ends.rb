# SPDX-License-Identifier: MIT

# Whatever ends rcore or the program, and whatever the program becomes.
module Ends
  KILLS = 10

  def self.cases(rubies)
    rubies.flat_map do |ruby|
      [
        SamplerCase.new("killed #{ruby.name}") { Ends.killed(self, ruby) },
        SamplerCase.new("churn #{ruby.name}") { Ends.churn(self, ruby, []) },
        SamplerCase.new("churn compact #{ruby.name}") { Ends.churn(self, ruby, ["compact"]) },
        SamplerCase.new("exit #{ruby.name}") { Ends.becomes(self, ruby, "exit", "Object#work") },
        SamplerCase.new("exec #{ruby.name}") { Ends.becomes(self, ruby, "exec", "Object#before_exec", "Object#after_exec") },
        SamplerCase.new("main thread #{ruby.name}") { Ends.main_thread(self, ruby) },
        SamplerCase.new("moments #{ruby.name}") { Ends.moments(self, ruby) },
        SamplerCase.new("executes #{ruby.name}") { Ends.executes(self, ruby) },
        *(SamplerCase.new("new ractor #{ruby.name}") { Ends.new_ractor(self, ruby) } if ruby.version >= Gem::Version.new("3.0")),
        SamplerCase.new("fork #{ruby.name}") { Ends.becomes(self, ruby, "fork", "Object#child_work") },
      ]
    end + rubies.select { |ruby| ruby.root.empty? }.first(1).map { |ruby| SamplerCase.new("title") { Ends.title(self, ruby) } } +
      ENDINGS.map { |code, text| SamplerCase.new("early #{code}") { Ends.early(self, code, text) } } +
      PROGRAM_ENDS.map { |code, text| SamplerCase.new("started #{code}") { Ends.started(self, code, text) } } +
      [
        SamplerCase.new("closed files") { Ends.closed(self) },
        SamplerCase.new("largest file") { Ends.largest_file(self) },
      ]
  end

  # The program runs on, and what was recorded can be read.
  def self.killed(test, ruby)
    test.with_program(ruby, "churn.rb") do |pid, counter|
      opened = 0
      KILLS.times do |number|
        path = File.join(test.folder, "#{number}.rec")
        recorder = Process.spawn(Suite::RCORE, "record", "-p", pid.to_s, "-o", path, *ruby.files, %i[out err] => File::NULL)
        sleep(rand * 4)
        Child.stop(recorder)
        test.goes_on(counter)
        next unless File.exist?(path)
        opened += 1
        out, err, status = test.rcore("report", path)
        test.fail("report after a kill: #{status} #{err}") unless status.zero? && out.include?("method")
      end
      test.note = "#{opened} of #{KILLS} recordings were there"
    end
  end

  # Outputs are named after the last title of the program. It changes after the recording has begun, and rcore looks at it once a second.
  def self.title(test, ruby)
    go, json, svg = %w[go title.json title.svg].map { |name| File.join(test.folder, name) }
    pid = Process.spawn(RbConfig.ruby, "--disable-gems", "-e", '$0 = "before"; sleep 0.01 until File.exist?(ARGV[0]); $0 = "after"; sleep', go, pgroup: true)
    recording = test.record_while(ruby, pid, "-o", json, "-o", svg) do |path, _|
      test.wait_until("the first title") { titled?(test, path, "before") }
      File.write(go, "")
      test.wait_until("the last title") { titled?(test, path, "after") }
    end
    test.same("the recording", "after", recording.facts["command"])
    test.same("the fact", "after", JSON.parse(File.read(json))["facts"]["command"])
    test.same("the flame graph", "after", File.read(svg)[/id="title"[^>]*>([^<]*)/, 1])
  ensure
    Child.stop(pid, -pid) if pid
  end

  # Whether the recording, which may not have begun, has this title now.
  def self.titled?(test, path, title)
    test.read(path).facts["command"] == title
  rescue Debuggee::Failed
    false
  end

  # How the last line says that a process did not live until the end of -d.
  ENDINGS = {
    "sleep 2" => "; the process ended;",
    # Much memory: the kernel frees it before it says that the process has ended.
    "all = 'a' * (1 << 29); sleep 2" => "; the process ended;",
    "sleep 2; exec 'sleep', '30'" => "; the process became a program that is not Ruby;",
    "sleep 2; exec 'ruby', '-e', 'sleep 30'" => "; the process became another program;",
    "sleep 2; exec 'ruby', '-e', 'sleep 1'" => "; the process became another program, and ended;",
    "sleep 2; exec 'sleep', '1'" => "; the process became another program, and ended;",
    "Thread.new { sleep 2; exec 'ruby', '-e', 'sleep 30' }; sleep" => "; the process became another program;",
    # Recorded with its child, which ends later and has no problem.
    "fork { sleep 4 }; sleep 2; exec 'sleep', '30'" => "; the process became a program that is not Ruby;",
    "sleep 30" => nil,
  }.freeze

  # What the last line says about the end of a COMMAND.
  PROGRAM_ENDS = {
    "sleep 1" => nil,
    # It ends before the first block is written.
    "sleep 0.3" => nil,
    "sleep 1; exit 3" => "; the program ended with exit status 3;",
    "sleep 1; Process.kill(:KILL, $$)" => "; SIGKILL ended the program;",
    "sleep 20" => /\A; the program continues as process \d+;\z/,
  }.freeze

  # On a busy machine, a process may take long to end.
  SECONDS, MOST_SECONDS = 5, 60

  # On a busy machine, a brief program may end before rcore gets a processor. rcore then says so, or says what it found while the
  # program started. The test starts it again.
  ATTEMPTS = 20
  TOO_BRIEF = /^rcore: no samples: the (?:process|program) ended /.freeze

  def self.early(test, code, text)
    seconds = text.to_s.match?(/ended|not Ruby/) ? MOST_SECONDS : SECONDS
    pid = Process.spawn(RbConfig.ruby, "--disable-gems", "-e", code, pgroup: true)
    _, err, status = test.rcore("record", "-p", pid.to_s, "-d", seconds, "-o", File.join(test.folder, "early.rec"), *("--children" if code.include?("fork")))
    test.same("the exit status", 0, status)
    test.same("the end in #{err.inspect}", text, err[/; the process.*;/])
  ensure
    Child.stop(pid)
  end

  def self.started(test, code, text)
    json = File.join(test.folder, "started.json")
    err = status = nil
    ATTEMPTS.times do
      _, err, status = test.rcore("record", "-d", text.is_a?(Regexp) ? 4 : MOST_SECONDS, "-o", json, "--", RbConfig.ruby, "--disable-gems", "-e", code)
      break unless err.match?(TOO_BRIEF)
    end
    return test.fail("exit status #{status}: #{err}") unless status.zero?
    found = err[/; (?:the program|SIG).*?;/]
    test.fail("the end in #{err.inspect}, not #{text.inspect}") unless text === found
    facts = JSON.parse(File.read(json))["facts"]
    test.same("the Ruby", RUBY_VERSION, facts["ruby"])
    test.fail("the facts #{facts}") unless facts["pid"].to_i.positive? && facts["command"].to_s.end_with?(code)
    Process.kill(:KILL, Integer(found[/\d+/])) if text.is_a?(Regexp) && found
  end

  # A file that rcore opens does not get the number of a standard file that is closed.
  def self.closed(test)
    pid = Process.spawn(RbConfig.ruby, "--disable-gems", "-e", "sleep 60", pgroup: true)
    path = File.join(test.folder, "closed.rec")
    command = [Suite::RCORE, "record", "-p", pid.to_s, "-d", "2", "-o", path]
    system("sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *SamplerCase::ROOT, *command)
    test.same("the exit status", 0, $?.exitstatus)
    _, err, status = test.rcore("report", path)
    test.same("the report's status", [0, ""], [status, err])
    system("sh", "-c", 'exec "$@" >&-', "sh", *SamplerCase::ROOT, File.expand_path(command[0]), *command[1...-2], err: File::NULL, chdir: test.folder)
    test.same("the exit status without an output", 2, $?.exitstatus)
  ensure
    Child.stop(pid) if pid
  end

  # A file that exceeds `ulimit -f` is an error, like a full disk.
  def self.largest_file(test)
    code = "def a(n) = n.zero? ? 2_000.times { |i| i.to_s } : n % 7 < 3 ? b(n / 2) : a(n - 1)\ndef b(n) = n.zero? ? 1_000.times(&:to_s) : rand < 0.5 ? a(n - 1) : b(n - 1)\nloop { a(rand(99)) }"
    pid = Process.spawn(RbConfig.ruby, "--disable-gems", "-e", code, pgroup: true)
    path = File.join(test.folder, "large.rec")
    _, err, status = Open3.capture3("sh", "-c", 'ulimit -f 64; exec "$@"', "sh", *SamplerCase::ROOT, Suite::RCORE, "record", "-p", pid.to_s, "-d", "30", "-r", "999", "-o", path, "-o", File.join(test.folder, "large.txt"))
    test.same("the exit status", 2, status.exitstatus || status.inspect)
    test.fail("the end in #{err}") unless err.include?("large.rec: the recording has no end, which could not be written")
    test.fail("not an error: #{err}") unless err.include?("large.rec: cannot write the recording: File too large")
    out, err, status = test.rcore("report", path)
    test.fail("report: #{status} #{err}") unless status.zero? && out.include?("method")
  ensure
    Child.stop(pid) if pid
  end

  # The program continues after its main thread has ended, although /proc/PID then
  # shows a zombie.
  def self.main_thread(test, ruby)
    test.with_program(ruby, "moments.rb", "main") do |pid, _|
      path = File.join(test.folder, "main.rec")
      recorder = Process.spawn(*SamplerCase::ROOT, Suite::RCORE, "record", "-p", pid.to_s, "-o", path, *ruby.files, "-d", "6", err: File.join(test.folder, "err"))
      test.wait_until("a recording") { File.exist?(path) }
      Child.signal(:USR1, pid)
      test.wait_until("the end of the main thread") { File.read("/proc/#{pid}/status") =~ /^State:\tZ/ }
      test.same("the exit status", 0, Child.wait(recorder).exitstatus)
      err = File.read(File.join(test.folder, "err"))
      test.fail("an end in #{err}") if err.include?("; the process")
      Ends.reads_without_main_thread(test, ruby, pid)
    end
  end

  def self.reads_without_main_thread(test, ruby, pid)
    recording = test.record(ruby, pid, "-d", 2)
    count = recording.sum("samples") { |total| recording.stack(total).include?("Object#after_main") }
    test.fail("#{count} samples of the threads that continue") if count < 20
    [["threads", 2], ["waits", 2], ["analyze", 2], ["heap", 0]].each do |command, least|
      out, err, status = test.rcore(command, "-p", pid, *ruby.files)
      test.fail("#{command}: #{status} #{err}") unless status.zero?
      test.fail("#{command}: #{out}") if command == "analyze" && out.scan("Object#after_main").size < least
    end
    listed = test.rcore("ps").first.lines.find { |line| line =~ /^ *#{pid} / }
    test.fail("ps: #{listed.inspect}") unless listed =~ /#{Regexp.escape(ruby.version.segments.first(2).join("."))}\S* +(?:running|sleeping) /
  end

  MOMENTS = Integer(ENV["MOMENTS"] || 8)
  ENDED = /\A(?:|; the process ended;|; all processes ended;)\z/.freeze
  BECAME = /\A(?:|; the process became another program;)\z/.freeze
  # Which ends rcore may report. It reports none if the process ends after the
  # recording, and may miss a program that ends at once.
  SENTENCES = {
    "exit" => ENDED, "raise" => ENDED, "kill" => ENDED,
    "exec" => BECAME, "thread" => BECAME,
    "other" => /\A(?:|; the process became (?:another program|a program that is not Ruby);)\z/,
    "short" => /\A(?:|; the process ended;|; the process became another program(?:, and ended)?;|; the process became a program that is not Ruby;)\z/,
    "fork" => /\A\z/, "main" => /\A\z/, "stop" => /\A\z/
  }.freeze
  # What rcore may report if that happens before the first sample.
  TOO_EARLY = /\Arcore: (?:process \d+ (?:ended while it was being read|is a zombie|is ending|started another program|could not be stopped in time)|no samples: the process ended|there is no process|not a Ruby process)/.freeze

  # The process ends, executes a program, forks or stops at random moments.
  # MOMENTS says how many there are. SEED repeats them.
  def self.moments(test, ruby)
    random = Random.new(Draw::SEED + ruby.name.sum)
    early = 0
    MOMENTS.times do |number|
      kind = SENTENCES.keys[random.rand(SENTENCES.size)]
      options = [[], ["--children"], ["--native"]][random.rand(3)]
      early += Ends.moment(test, ruby, "#{number} #{kind} #{options.first}", kind, options, random.rand * 1.3)
    end
    test.note = "#{MOMENTS} moments with seed #{Draw::SEED}, #{early} before the first sample"
  end

  # Returns 1 if there was no sample yet, otherwise 0.
  def self.moment(test, ruby, name, kind, options, delay)
    path = File.join(test.folder, "moment.rec")
    FileUtils.rm_f(path)
    test.with_program(ruby, "moments.rb", kind) do |pid, _|
      out = File.join(test.folder, "err")
      recorder = Process.spawn(*SamplerCase::ROOT, Suite::RCORE, "record", "-p", pid.to_s, "-d", "1", "-r", "499", "-o", path, *options, *ruby.files, %i[out err] => out)
      sleep delay
      Ends.act(kind, pid)
      status = Child.wait(recorder, 60).exitstatus
      err = File.read(out)
      next Ends.is_early(test, name, kind, err) unless status&.zero?
      found = err[/; (?:the process (?:ended|became|can)|all processes).*?;/].to_s
      test.fail("#{name}: #{found} in #{err}") unless SENTENCES.fetch(kind) =~ found
      _, err, status = test.rcore("report", path)
      test.fail("#{name}: report: #{status} #{err}") unless [status, err] == [0, ""]
      0
    end
  end

  def self.act(kind, pid)
    signals = { "kill" => %i[KILL], "stop" => %i[STOP CONT] }.fetch(kind, %i[USR1])
    signals.each do |signal|
      Child.signal(signal, pid)
      sleep 0.2 if signal == :STOP
    end
  end

  def self.is_early(test, name, kind, err)
    test.fail("#{name}: #{err}") if err !~ TOO_EARLY || %w[fork main stop].include?(kind)
    1
  end

  PROGRAMS = 8

  # At first, a program that was just executed has no mappings, or only those of
  # the dynamic linker. Each program executes the next one once it has samples,
  # or once rcore has ended.
  def self.executes(test, ruby)
    test.with_program(ruby, "executes.rb", PROGRAMS) do |pid, _, folder|
      recording = test.record_while(ruby, pid, "-r", 999) do |path, log|
        PROGRAMS.downto(0) do |left|
          test.wait_until("samples of left_#{left}") { File.read(log).match?(/ samples? in /) || labels_so_far(test, path).include?("Object#left_#{left}") }
          File.write(File.join(folder, "execute_#{left}"), "")
        end
      end
      missing = (0..PROGRAMS).map { |left| "Object#left_#{left}" } - labels_of(recording)
      test.fail("in no sample: #{missing.join(", ")}") if missing.any?
    end
  end

  # A Ractor that begins while rcore records.
  def self.new_ractor(test, ruby)
    test.with_program(ruby, "new_ractor.rb") do |pid, _, folder|
      recording = test.record_while(ruby, pid) do |path, log|
        %w[before after].each do |name|
          test.wait_until("samples of #{name}") { File.read(log).match?(/ samples? in /) || labels_so_far(test, path).include?("Object##{name}") }
          File.write(File.join(folder, "begin_ractor"), "")
        end
      end
      missing = %w[Object#before Object#after] - labels_of(recording)
      test.fail("in no sample: #{missing.join(", ")}") if missing.any?
    end
  end

  def self.labels_of(recording)
    recording.totals.flat_map { |total| recording.stack(total) }.uniq
  end

  # rcore writes to the recording each second, from the first second on.
  def self.labels_so_far(test, path)
    labels_of(test.read(path))
  rescue Debuggee::Failed
    []
  end

  MADE = /\A(?:block (?:\(\d levels\) )?in )?(?:<main>|Object#(?:deep|made\d+)|[A-Z]\w+(?:::\w+)*[#.]\w+[?!=]?)\z/.freeze

  def self.churn(test, ruby, arguments)
    test.with_program(ruby, "churn.rb", *arguments) do |pid, counter|
      recording = test.record(ruby, pid, "-d", 5, "-r", 499)
      all = recording.totals.sum { |total| total["samples"] }
      odd = recording.totals.flat_map { |total| recording.stack(total) }.uniq.reject { |label| label =~ MADE || label =~ SamplerCase::NOTE || label == "block in C" }
      unread = recording.sum("samples") { |total| recording.stack(total).any? { |label| label == "(a frame that could not be read)" } }
      test.fail("labels of no method: #{odd.first(5)}") if odd.any?
      test.note = "#{all} samples, #{unread} with a frame that could not be read"
      test.fail("#{unread} of #{all} samples could not be read") if unread * 10 > all
      test.goes_on(counter)
    end
  end

  # Starts the program under rcore.
  def self.becomes(test, ruby, kind, *wanted)
    Dir.mktmpdir("rcore-sampler.", ruby.outside("/tmp")) do |inner|
      File.chmod(0o777, inner)
      FileUtils.cp(File.join(test.programs, "becomes.rb"), inner)
      inside = File.join("/tmp", File.basename(inner))
      path = File.join(test.folder, "becomes.rec")
      children = kind == "fork" ? ["--children"] : []
      _, err, status = test.rcore("record", "-o", path, *children, *ruby.files, "--", *ruby.command(["becomes.rb", kind], directory: inside))
      test.fail("exit status #{status}: #{err}") unless status.zero?
      next test.fail("no recording: #{err}") unless File.exist?(path)
      recording = test.read(path)
      wanted.each do |label|
        count = recording.sum("samples") { |total| recording.stack(total).include?(label) }
        test.fail("#{label} is in no sample: #{err}") if count.zero?
      end
      test.fail("no end: #{err}") if kind == "fork" && recording.totals.map { |total| recording.thread(total)["pid"] }.uniq.size < 4
    end
  end
end
