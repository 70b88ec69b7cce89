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
        SamplerCase.new("executes #{ruby.name}") { Ends.executes(self, ruby) },
        SamplerCase.new("fork #{ruby.name}") { Ends.becomes(self, ruby, "fork", "Object#child_work") },
      ]
    end + [SamplerCase.new("title") { Ends.title(self) }] +
      ENDINGS.map { |code, text| SamplerCase.new("early #{code}") { Ends.early(self, code, text) } }
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

  # Outputs are named after the last title of the program.
  def self.title(test)
    pid = Process.spawn(RbConfig.ruby, "--disable-gems", "-e", '$0 = "before"; sleep 1.5; $0 = "after"; sleep', pgroup: true)
    json, svg = %w[json svg].map { |suffix| File.join(test.folder, "title.#{suffix}") }
    test.rcore("record", "-p", pid.to_s, "-d", "4", "-o", json, "-o", svg)
    test.same("the fact", "after", JSON.parse(File.read(json))["facts"]["command"])
    test.same("the flame graph", "after", File.read(svg)[/id="title"[^>]*>([^<]*)/, 1])
  ensure
    Child.stop(pid, -pid) if pid
  end

  # How the last line says that a process did not live until the end of -d.
  ENDINGS = {
    "sleep 2" => "; the process ended;",
    # Much memory: the kernel frees it before it says that the process has ended.
    "all = 'a' * (1 << 29); sleep 2" => "; the process ended;",
    "sleep 2; exec 'sleep', '30'" => "; the process became a program that is not Ruby;",
    "sleep 2; exec 'ruby', '-e', 'sleep 30'" => "; the process became another program;",
    "sleep 2; exec 'ruby', '-e', 'sleep 1'" => "; the process became another program, and ended;",
    "sleep 30" => nil,
  }.freeze

  # A process that comes to its end may take long for it on a busy machine.
  SECONDS, MOST_SECONDS = 5, 60

  def self.early(test, code, text)
    seconds = text.to_s.match?(/ended|not Ruby/) ? MOST_SECONDS : SECONDS
    pid = Process.spawn(RbConfig.ruby, "--disable-gems", "-e", code, pgroup: true)
    _, err, status = test.rcore("record", "-p", pid.to_s, "-d", seconds, "-o", File.join(test.folder, "early.rec"))
    test.same("the exit status", 0, status)
    test.same("the end in #{err.inspect}", text, err[/; the process.*;/])
  ensure
    Child.stop(pid)
  end

  PROGRAMS = 8

  # At first, a program that was just executed has no mappings, or only those of
  # the dynamic linker. Each one executes the next one once it has samples, or
  # if rcore has ended.
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
