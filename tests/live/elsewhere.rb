# SPDX-License-Identifier: MIT

# Processes in containers, of whole trees, with files that are gone; and
# processes that are not Ruby.
module Elsewhere
  def self.cases(rubies)
    own = rubies.find { |ruby| ruby.root.empty? } || rubies.first
    rubies.reject { |ruby| ruby.root.empty? }.map do |ruby|
      LiveCase.new("container #{ruby.name}") { Elsewhere.container(self, ruby) }
    end + rubies.reject { |ruby| ruby.root.empty? }.last(1).flat_map do |ruby|
      [LiveCase.new("missing files #{ruby.name}") { Elsewhere.missing(self, ruby) },
       LiveCase.new("debug files in container #{ruby.name}") { Elsewhere.debug_files(self, ruby) }]
    end + [
      LiveCase.new("children #{own.name}") { Elsewhere.children(self, own) },
      LiveCase.new("replaced files #{own.name}") { Elsewhere.replaced(self, own) },
      LiveCase.new("verbose #{own.name}") { Elsewhere.verbose(self, own) },
      LiveCase.new("not ruby") { Elsewhere.not_ruby(self) },
      LiveCase.new("executing") { Elsewhere.executing(self) },
      LiveCase.new("usage") { Elsewhere.usage(self) },
      LiveCase.new("stopped by a signal #{own.name}") { Elsewhere.stopped(self, own) },
      LiveCase.new("resumed too early #{own.name}") { Elsewhere.resumed(self, own) },
      LiveCase.new("without the GVL #{own.name}") { Elsewhere.without_gvl(self, own) },
    ]
  end

  # Has its own namespaces for processes and mounts, and its own root folder, in
  # which nothing outside is visible.
  def self.container(test, ruby)
    before = [*LiveCase::ROOT, "unshare", "--pid", "--mount", "--fork", "--kill-child"]
    test.with_program(ruby, "busy.rb", before: before) do |pid, counter, folder, spawned|
      test.same("pid inside", 1, pid)
      outside = descendants(spawned).find { |each| inner_pid(each) == 1 } or next test.fail("no process 1 in it")
      tids = Dir.children("/proc/#{outside}/task").size
      report, status = test.report("-p", outside)
      next unless report
      test.fail("exit status #{status}") unless [0, 1].include?(status)
      test.same("pid", outside, report["pid"])
      test.same("pid inside", 1, report.dig("live", "inner_pid"))
      main = report["threads"].find { |thread| thread["main"] }
      test.same("tid of the main thread", 1, main["tid"])
      [*report["threads"], *report["other_threads"]].select { |thread| thread["tid"] }.each do |thread|
        test.same("inner id of #{thread}", thread["tid"], inner_pid("#{outside}/task/#{thread.fetch("outer_tid", "none")}"))
      rescue Errno::ENOENT
        test.fail("no outer id: #{thread}") unless thread["outer_tid"] # it has ended since then
      end
      test.fail("no threads but #{tids} kernel threads") if report["threads"].size < 5
      test.same("modules", [], report["modules"].reject { |each| each["status"] == "found" }.map { |each| each["path"] })
      out, = test.rcore("-p", outside)
      test.fail("the report does not tell the pid inside") unless out.lines.first.include?("(pid 1 in its container)")
      test.fail("the text has no LWP #{outside} for the main thread") unless out.match?(/^(?:\* )?T\d+ +LWP #{outside} +main\b/)
      test.goes_on(counter)
    end
  end

  # A program that was just executed maps no file, and the memory of the one before is gone.
  def self.executing(test)
    program = File.join(test.folder, "executes")
    return test.fail("no program") unless system("gcc", "-O2", File.join(__dir__, "executes.c"), "-o", program)
    pid = Process.spawn(program, "100000000")
    40.times do
      out, err, status = test.rcore("-p", pid)
      wanted = { 2 => /\Arcore: process #{pid} (?:started another program while it was being read; try again|could not be stopped in time: )/, 3 => /\Arcore: not a Ruby process: / }[status]
      test.fail("status #{status}: #{out}#{err}") unless wanted && out.empty? && err.match?(wanted) && err.lines.size == 1
    end
  ensure
    Child.stop(pid) if pid
  end

  # Only the container has the debug file of a library.
  def self.debug_files(test, ruby)
    source = File.join(__dir__, "naps.c")
    FileUtils.mkdir_p(inside = File.join(test.folder, "lib"))
    library = File.join(inside, "naps.so")
    return test.fail("no library") unless system("gcc", "-g", "-O0", "-shared", "-fPIC", "-Wl,--build-id=sha1", source, "-o", library)
    id = `readelf -n #{library}`[/Build ID: (\h+)/, 1]
    kept = File.join(inside, "debug/.build-id", id[0, 2])
    FileUtils.mkdir_p(kept)
    system("objcopy", "--only-keep-debug", library, File.join(kept, "#{id[2..]}.debug"))
    system("strip", library)
    line = File.readlines(source).index { |each| each.include?("poll(") } + 1
    folders = File.join(ruby.root, "usr/lib")
    mount = "mount -t overlay none -o lowerdir=#{inside}:#{folders} #{folders} && exec \"$@\""
    before = [*LiveCase::ROOT, "unshare", "--mount", "sh", "-c", mount, "sh"]
    test.with_program(ruby, "napping.rb", "/usr/lib/naps.so", before: before) do |pid, counter|
      report, = test.report("-p", pid)
      frames = report.to_h["fibers"].to_a.flat_map { |fiber| fiber["native"].to_a }
      found = frames.find { |frame| frame["function"] == "nap" }
      test.same("where it naps", ["naps.c", line], found && [File.basename(found["file"].to_s), found["line"]])
      test.goes_on(counter)
    end
  end

  def self.descendants(pid)
    found = [pid]
    found.each { |each| Dir["/proc/#{each}/task/*/children"].each { |file| found.concat(numbers(file)) } }
  end

  # Returns none if the thread has ended.
  def self.numbers(file)
    File.read(file).split.map(&:to_i)
  rescue SystemCallError
    []
  end

  def self.inner_pid(pid)
    File.read("/proc/#{pid}/status")[/^NSpid:.*?(\d+)$/, 1].to_i
  end

  # Like a cluster of workers: a Ruby that forks Rubies and something else.
  def self.children(test, ruby)
    test.with_program(ruby, "cluster.rb") do |pid, counter|
      workers = File.read(File.join(File.dirname(counter.path), "workers")).split.map(&:to_i)
      other, ended = %w[other ended].map { |name| File.read(File.join(File.dirname(counter.path), name)).to_i }
      out, err, status = test.rcore("--json", "-p", pid, "--children")
      test.same("exit status", 0, status)
      reports = out.split(/^(?=\{$)/).map { |text| JSON.parse(text, max_nesting: false) }
      test.same("reports", [pid, *workers].sort, reports.map { |each| each["pid"] }.sort)
      test.same("first", pid, reports.first["pid"])
      test.same("lines about others", 2, err.lines.size)
      test.fail(err) unless err =~ /^rcore: skipped process #{other}: not a Ruby process/ && err =~ /^rcore: skipped process #{ended}: .* is a zombie/
      out, = test.rcore("-p", pid, "--children")
      test.same("headers", 3, out.lines.grep(/\Aprocess \d+ /).size)
      test.goes_on(counter)
    end
  end

  # rcore doctor prints commands that fetch all files that this machine lacks.
  # They must work.
  def self.missing(test, ruby)
    test.with_program(ruby, "busy.rb") do |pid, _, folder|
      core = File.join(folder, "core")
      system(*LiveCase::ROOT, "gcore", "-o", core, pid.to_s, %i[out err] => File::NULL)
      core = "#{core}.#{pid}"
      # Another machine: the same core, and none of the files.
      rcore = lambda do |*words|
        script = 'mount -t tmpfs none "$0" && exec "$@"'
        Open3.capture2e(*LiveCase::ROOT, "unshare", "--mount", "sh", "-c", script, File.join(ruby.root, "usr"), Suite::RCORE, *words)
      end
      doctor = ->(*words) { rcore.call("doctor", core, *words) }
      out, = doctor.call
      count = out[/^  copy (\d+) files from the machine that wrote the core\. There:$/, 1].to_i
      there = out[/^    (tar -chzf core-files\.tar\.gz(?: \\\n +\S+)+)\n\n/, 1]
      here = out[/^    (mkdir core-files && tar .*)$/, 1]
      next test.fail("no commands: #{out}") unless there && here && count > 1
      test.same("files", count, there.lines.size - 1)
      test.fail("no word of containers: #{out}") unless out.include?("the folder that is its root instead: --sysroot DIR")
      out, = rcore.call("analyze", core)
      test.fail("advice that does not help: #{out}") if out.include?("install the debug information")
      _, err, status = Open3.capture3("sh", "-c", there, chdir: folder)
      test.same("there", 0, status.exitstatus)
      test.fail(err) unless err.lines.all? { |line| line.include?("Removing leading") }
      test.same("here", true, system(here, chdir: folder))
      out, status = doctor.call("--sysroot", "#{File.join(folder, "core-files")}/")
      test.same("and then", 0, status.exitstatus)
      test.fail("slashes: #{out}") if out.include?("//")
      test.fail(out) if out.include?("To do")
    end
  end

  # libruby was upgraded while the process ran: another file has its name, or no
  # file does.
  def self.replaced(test, ruby)
    library = `ldd #{ruby.program}`[%r{libruby\S+ => (\S+)}, 1] or return test.fail("#{ruby.program} has no libruby")
    Dir.mktmpdir do |folder|
      copy = File.join(folder, File.basename(library))
      [:gone, :another].each do |how|
        FileUtils.cp(File.realpath(library), copy)
        test.with_program(ruby, "busy.rb", environment: { "LD_LIBRARY_PATH" => folder }) do |pid, counter|
          File.delete(copy)
          FileUtils.cp(File.realpath("/bin/true"), copy) if how == :another
          report, status = test.report("-p", pid)
          next unless report
          test.fail("#{how}: exit status #{status}") unless [0, 1].include?(status)
          module_ = report["modules"].find { |each| each["ruby"] }
          test.same("#{how}: libruby", "found", module_["status"])
          test.same("#{how}: path", "#{copy} (deleted)", module_["path"])
          test.goes_on(counter)
        end
        FileUtils.rm_f(copy)
      end
    end
  end


  def self.verbose(test, ruby)
    test.with_program(ruby, "busy.rb") do |pid, counter|
      out, = test.rcore("-p", pid, "-v")
      test.fail("-v does not tell the pause") unless out =~ /^Stopped: \d+ kernel threads?, for \d+\.\d\d ms$/
      out, = test.rcore("-p", pid, "--no-stop")
      test.fail("--no-stop is not told") unless out.lines[1].include?("--no-stop")
      out, err, status = Open3.capture3(*LiveCase::ROOT, Suite::RCORE, "doctor", "-p", pid.to_s)
      test.same("doctor: exit status", 0, status.exitstatus)
      test.same("doctor: errors", "", err)
      test.fail("doctor: #{out}") unless out.include?("Ready to analyze")
      test.goes_on(counter)
    end
  end

  def self.not_ruby(test)
    pid = Process.spawn("sleep", "1000")
    test.wait_until("sleep") { File.read("/proc/#{pid}/comm") == "sleep\n" }
    out, err, status = test.rcore("-p", pid)
    test.same("exit status", 3, status)
    test.same("output", "", out)
    test.fail(err) unless err.start_with?("rcore: not a Ruby process: \"sleep 1000\"") && err.lines.size == 1
    out, err, status = test.rcore("-p", pid, "--children")
    test.same("--children: exit status", 3, status)
    test.same("--children: lines", 1, err.lines.size)
    Process.kill(:KILL, pid)
    test.wait_until("zombie") { File.read("/proc/#{pid}/status")[/^State:\s*(\w)/, 1] == "Z" }
    _, err, status = test.rcore("-p", pid)
    test.same("zombie: exit status", 2, status)
    test.fail(err) unless err.include?("is a zombie") && err.lines.size == 1
    Child.wait(pid)
    _, err, status = test.rcore("-p", pid)
    test.same("ended: exit status", 2, status)
    test.fail(err) unless err.include?("no process #{pid}") && err.lines.size == 1
  end

  # A line says so, because the report looks like that of any other process. It stays stopped.
  def self.stopped(test, ruby)
    test.with_program(ruby, "busy.rb") do |pid, counter|
      Process.kill(:STOP, pid)
      sleep 0.01 until File.read("/proc/#{pid}/stat")[/\) (\w)/, 1] == "T"
      [["-p", pid], ["-p", pid, "--children"]].each do |arguments|
        _, err, = test.rcore(*arguments)
        test.fail("#{arguments}: #{err}") unless err.include?("a signal has stopped process #{pid} (SIGSTOP, or Ctrl-Z)")
      end
      test.same("state", "T", File.read("/proc/#{pid}/stat")[/\) (\w)/, 1])
    ensure
      Process.kill(:CONT, pid)
      test.goes_on(counter)
      _, err, = test.rcore("-p", pid)
      test.fail("resumed: #{err}") unless err.empty?
    end
  end

  ATTEMPTS = 10

  # GDB holds rcore up during the stop, as a busy machine does.
  def self.resumed(test, ruby)
    test.with_program(ruby, "busy.rb") do |pid, counter, folder|
      { ["break rcore_running_check_gvl", "run", "tbreak rcore_live_pages_fill", "continue"] =>
          "rcore: process #{pid} was resumed after 2000 ms, before rcore had read enough of it; this machine is busy: ",
        ["break rcore_running_time_gvl", "run"] =>
          "rcore: not everything could be read: reading was not complete when the process was resumed after 2 s; " }.each do |commands, words|
        commands = ["set debuginfod enabled off", *commands, "shell sleep 2.5", "delete", "continue"].flat_map { |command| ["-ex", command] }
        # When GDB resumes rcore, the thread that reads may still be faster than the one that resumes the process.
        said = Array.new(ATTEMPTS) do
          _, err, = Open3.capture3(*LiveCase::ROOT, "gdb", "-nx", "-q", "-batch", *commands, "--args", Suite::RCORE,
                                   "pack", "-p", pid.to_s, "-o", File.join(folder, "pack"))
          break [err] unless err.empty?
          err
        end
        test.fail("pack: #{said.last}") unless said.last.include?(words)
      end
      test.goes_on(counter)
    end
  end

  # A thread that works in C without the GVL waits for nothing. Between two
  # calls, it waits for the GVL, so the test looks again.
  def self.without_gvl(test, ruby)
    test.with_program(ruby, "deflating.rb") do |pid, |
      looks = Array.new(ATTEMPTS) do
        out, = Open3.capture2(*LiveCase::ROOT, Suite::RCORE, "waits", "-p", pid.to_s)
        break [] if out =~ /^T\d+ +"deflate": runs or waits without the GVL, in Zlib::Deflate\.deflate, called from block \(2 levels\) in <main> \(deflating\.rb:\d+\)$/
        out
      end
      test.fail(looks.last) if looks.any?
    end
  end

  def self.usage(test)
    { %w[-p no-such-title] => "no Ruby process has 'no-such-title' in its title", %w[-p 0] => "not '0'", %w[-p] => "requires a value", %w[--no-stop core] => "'--no-stop' requires -p",
      %w[--max-pause 5 core] => "'--max-pause' requires -p", %w[--max-pause 0 -p 1] => "'--max-pause'",
      %w[--children core] => "'--children' requires -p", %w[-p 1 core] => "-p PID names the target", [] => "missing CORE" }.each do |arguments, words|
      out, err, status = test.rcore(*arguments)
      test.same("#{arguments}: exit status", 64, status)
      test.same("#{arguments}: output", "", out)
      test.fail("#{arguments}: #{err}") unless err.include?(words)
    end
  end
end
