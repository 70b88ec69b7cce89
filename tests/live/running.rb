# SPDX-License-Identifier: MIT

# Processes that never stand still by themselves.
module Running
  ANALYSES = 20
  CHECKS = 10
  KILLS = 30

  def self.cases(rubies)
    rubies.flat_map do |ruby|
      [
        LiveCase.new("busy #{ruby.name}") { Running.busy(self, ruby, []) },
        LiveCase.new("busy --no-stop #{ruby.name}") { Running.busy(self, ruby, ["--no-stop"]) },
        LiveCase.new("busy --max-pause #{ruby.name}") { Running.limited(self, ruby) },
        LiveCase.new("busy layout #{ruby.name}") { Running.layout(self, ruby) },
        LiveCase.new("killed #{ruby.name}") { Running.killed(self, ruby) },
        LiveCase.new("short of memory #{ruby.name}") { Running.short_of_memory(self, ruby) },
      ]
    end
  end

  # Threads and fibers start and end all the time. rcore marks what it cannot
  # decode at such a moment, and prints the rest.
  def self.busy(test, ruby, options)
    test.with_program(ruby, "busy.rb") do |pid, counter|
      whole = 0
      problem = nil
      ANALYSES.times do
        report, status = test.report("-p", pid, *options)
        break unless report
        test.fail("exit status #{status}: #{report['failure']}") unless [0, 1].include?(status)
        test.same("status of what is incomplete", status.zero?, report["complete"])
        test.fail("not stopped") unless options.any? || report.dig("live", "stopped")
        status.zero? ? whole += 1 : problem ||= Running.problem(report)
        known(test, report)
        test.goes_on(counter)
      end
      # A frame that is just being pushed is rare.
      test.fail("#{whole} of #{ANALYSES} complete: #{problem}") if options.empty? && whole * 2 < ANALYSES
      test.note = "#{whole} of #{ANALYSES} complete#{problem && ": #{problem}"}"
      test.same("failures within", "", File.read(File.join(File.dirname(counter.path), "output")))
    end
  end

  # If something was not read in time, it is marked.
  def self.limited(test, ruby)
    test.with_program(ruby, "busy.rb") do |pid, counter|
      [1, 2, 4, 2000].each do |limit|
        report, status = test.report("-p", pid, "--max-pause", limit)
        break unless report
        test.fail("exit status #{status}: #{report['failure']}") unless [0, 1].include?(status)
        told = report["problems"].grep(/\Athe process was resumed after #{limit} ms \(--max-pause\), .* (\d+) of (\d+) fibers? /) { [Integer($1), Integer($2)] }
        late = report["fibers"].count { |fiber| fiber["late"] }
        test.same("late fibers with --max-pause #{limit}", told.empty? ? 0 : told[0][0], late)
        test.same("fibers", told[0][1], report["fibers"].size) unless told.empty?
        known(test, report)
        test.goes_on(counter)
      end
      _, err, status = test.rcore("-p", pid, "--max-pause", "2001")
      test.same("over the limit: exit status", 64, status)
      test.fail(err) unless err.include?("'--max-pause' cannot be over 2000")
    end
  end

  # No proof mistakes what comes and goes, or changes between two reads, for a
  # wrong field.
  def self.layout(test, ruby)
    test.with_program(ruby, "busy.rb") do |pid, counter|
      CHECKS.times do
        out, err, = Open3.capture3(*LiveCase::ROOT, Suite::RCORE, "layout", "--check", "-p", pid.to_s)
        test.fail("no layout: #{err}") unless out.start_with?("Layout ")
        out.scan(/^  WRONG +(.*)/) { test.fail("wrong: #{$1}") }
        test.goes_on(counter)
      end
    end
  end

  # The first problem of the report, after the id of the thread, fiber or frame that has it.
  def self.problem(report)
    parts = report["threads"] + report["fibers"] + report["fibers"].flat_map { |fiber| fiber["frames"].map { |frame| frame.merge("id" => "#{fiber["id"]}, #{frame["label"]}") } }
    report["problems"].first || parts.filter_map { |part| part["problem"] && "#{part["id"]}: #{part["problem"]}" }.first
  end

  CLASSES = "Array|Class|Fiber|File|IO|Integer|Kernel|Numeric|Range|Thread(?:::Mutex|::Queue)?|Mutex|Queue"
  LABEL = /\A(?:(?:block (?:\(\d levels\) )?in )?(?:<main>|(?:Object#)?(?:deep|park|count_forever))|(?:#{CLASSES})[#.]\w+[?!=<]*)\z/

  # All frames are those of the program. (If it is read while it runs, a frame
  # may have lost its class.)
  def self.known(test, report)
    report["fibers"].each do |fiber|
      fiber["frames"].each do |frame|
        next if frame["problem"] || %w[dummy ifunc broken].include?(frame["kind"])
        own = frame["path"].nil? || frame["path"] =~ /\A<internal:|\b(?:busy|counting)\.rb\z/
        test.fail("#{fiber['id']}: #{frame['label']} at #{frame['path']}") unless own && frame["label"] =~ LABEL
      end
    end
  end

  # rcore is killed at any moment; then nothing holds the process.
  def self.killed(test, ruby)
    test.with_program(ruby, "busy.rb") do |pid, counter|
      random = Random.new(1)
      held = 0
      KILLS.times do |number|
        rcore = Process.spawn(Suite::RCORE, "analyze", "-p", pid.to_s, %i[out err] => File::NULL)
        if number.even?
          sleep(random.rand * 0.05)
        else
          held += 1 if held_by?(pid, rcore)
        end
        Child.stop(rcore)
        test.goes_on(counter)
      end
      test.same("tracer", "0", tracer(pid))
      test.note = "#{held} of #{KILLS} when it was seen to be held"
    end
  end

  # rcore runs out of memory at one point or another: it says so, or continues
  # without, and the process is not held.
  def self.short_of_memory(test, ruby)
    test.with_program(ruby, "busy.rb") do |pid, counter|
      statuses = (10..130).step(5).map do |mebibytes|
        command = ["prlimit", "--as=#{mebibytes << 20}", Suite::RCORE, "analyze", "-p", pid.to_s]
        out, err, status = Open3.capture3(*command, binmode: true)
        test.goes_on(counter)
        test.same("tracer", "0", tracer(pid))
        # elfutils ends a program with abort() where its tables cannot grow.
        sound = status.exitstatus || status.termsig == Signal.list["ABRT"]
        test.fail("#{mebibytes} MiB: #{status.inspect}, #{out.size} bytes, #{err}") unless sound
        test.fail("#{mebibytes} MiB: #{status.inspect} without a word") if !status.success? && (out + err).empty?
        status.exitstatus || "aborted"
      end
      test.note = "statuses #{statuses.tally.map { |status, count| "#{status}: #{count}" }.join(", ")}"
    end
  end

  # Waits until rcore holds the process, or has ended.
  def self.held_by?(pid, rcore)
    loop do
      return true if tracer(pid) != "0"
      return false if File.read("/proc/#{rcore}/stat")[/\) (\w)/, 1] == "Z"
    end
  end

  def self.tracer(pid)
    File.read("/proc/#{pid}/status")[/^TracerPid:\s*(\d+)/, 1]
  end
end
