# SPDX-License-Identifier: MIT

# Compares `rcore ps` with what the kernel and the programs themselves report.
module Listed
  NOBODY = 65_534

  def self.cases(rubies)
    rubies.map { |ruby| LiveCase.new("ps #{ruby.name}") { Listed.one(self, ruby) } } +
      [LiveCase.new("ps of a busy thread") { Listed.beside(self, rubies.last) },
       LiveCase.new("a process by its title") { Listed.named(self, rubies.last) },
       LiveCase.new("ps of another user") { Listed.unreadable(self, rubies.find { |ruby| ruby.root.empty? } || rubies.first) }]
  end

  def self.one(test, ruby)
    test.with_program(ruby, "titled.rb") do |pid, counter|
      rows, status = list(test)
      test.fail("status #{status}") unless [0, 1].include?(status) # 1: of other processes on this machine
      row = rows.find { |each| each["pid"] == pid } or next test.fail("not listed")
      test.same("release", ruby.version.to_s, row["ruby"])
      test.same("threads", Dir.children("/proc/#{pid}/task").size, row["threads"])
      test.same("parent", File.read("/proc/#{pid}/stat").split[3].to_i, row["parent"])
      test.fail("state #{row["state"]}") unless %w[running sleeping].include?(row["state"])
      test.same("title", "worker \e[31m 1", row["command"])
      out, = rcore("ps")
      line = out.lines.find { |each| each.split.first == pid.to_s }
      test.fail("not escaped: #{line.inspect}") unless line&.end_with?("worker \\e[31m 1\n")
      test.goes_on(counter)
    end
  end

  # The main thread waits for another one, which works.
  def self.beside(test, ruby)
    test.with_program(ruby, "titled.rb", environment: {"BESIDE" => "1"}) do |pid, counter|
      test.wait_until("the main thread to sleep") { File.read("/proc/#{pid}/stat")[/.*\) (\w)/, 1] == "S" }
      rows, = list(test)
      test.same("state", "running", rows.find { |each| each["pid"] == pid }&.fetch("state"))
      test.goes_on(counter)
    end
  end

  # -p accepts a part of the title if one process has it, and --thread the name
  # of a thread.
  def self.named(test, ruby)
    title = "shop#{rand(1 << 60)}"
    test.with_program(ruby, "titled.rb", environment: {"TITLE" => "#{title}: one"}) do |pid, counter|
      report, = test.report("-p", title)
      test.same("pid", pid, report["pid"])
      report, = test.report("-p", "s?op#{title[4..]}*on[e]")
      test.same("pid of a pattern", pid, report["pid"])
      report, = test.report("-p", title, "--thread", "waiter")
      test.same("threads called waiter", ["waiter"], report["threads"].map { |thread| thread["name"] })
      test.with_program(ruby, "titled.rb", environment: {"TITLE" => "#{title}: two"}) do |other, |
        out, err, status = test.rcore("-p", title)
        test.same("two: output, status", ["", 64], [out, status])
        [[title, [pid, other]], ["#{title}*two", [other]], ["#{title}: one", [pid]]].each do |name, pids|
          rows, = list(test, name: name)
          test.same("ps #{name}", pids.sort, rows.map { |row| row["pid"] }.sort)
        end
        test.same("ps of none", ["", 3], rcore("ps", "#{title}: three"))
        test.fail("two: #{err}") unless err.lines.size == 1 && err.include?("2 Ruby processes") && [pid, other].all? { |each| err.include?("#{each} (#{title}: ") }
      end
      test.with_program(ruby, "titled.rb", environment: {"TITLE" => title, "WORKERS" => "2"}) do |parent, |
        _, err, = test.rcore("-p", "#{title}*") # "TITLE: one" is not a descendant
        test.fail("a stranger: #{err}") if err.include?("--children")
        _, err, status = test.rcore("-p", "#{title} ")
        test.same("workers: status", 64, status)
        test.fail("workers: #{err}") unless err.include?("name one by its pid, or all with -p #{parent} --children; ")
        [["-p", "#{title} ", "--children"], ["--children", "-p", "#{title} "]].each { |words| tree(test, words, parent) }
        _, err, status = test.rcore("--children", "-p", title) # also a name of "TITLE: one"
        test.fail("two trees: #{status} #{err}") unless status == 64 && err.start_with?("rcore: 4 Ruby processes")
      end
      out, err, status = test.rcore("-p", "#{title}: two")
      test.same("none: output, status", ["", 64], [out, status])
      test.fail("none: #{err}") unless err == "rcore: no Ruby process has '#{title}: two' in its title; `rcore ps` lists them; see rcore analyze --help\n"
      test.goes_on(counter)
    end
  end

  # With --children, a name of a master and of its workers is the master's.
  def self.tree(test, words, parent)
    out, err, status = Open3.capture3(*LiveCase::ROOT, Suite::RCORE, "threads", *words)
    test.same("#{words}: status", 0, status.exitstatus)
    test.fail("#{words}: #{out}#{err}") unless out =~ /\A3 Ruby processes.*\b#{parent}\b/m && out.scan(/^T1 /).size == 3
  end

  # It is listed all the same, with the reason and what to do.
  def self.unreadable(test, ruby)
    return unless Process.uid.zero?
    test.with_program(ruby, "titled.rb", environment: {"TITLE" => "no"}) do |pid, counter, folder|
      program = File.join(folder, "rcore")
      FileUtils.cp(Suite::RCORE, program)
      rows, status = list(test, program) { Process::UID.change_privilege(NOBODY) }
      test.same("status", 1, status)
      row = rows.find { |each| each["pid"] == pid }
      test.fail("no reason: #{row}") unless row && row["problem"]&.include?("not allowed to read process #{pid}") && row["ruby"].nil?
      test.goes_on(counter)
    end
  end

  def self.rcore(*arguments, program: Suite::RCORE, &before)
    reading, writing = IO.pipe(binmode: true)
    pid = fork do
      before&.call
      $stdout.reopen(writing)
      exec(program, *arguments)
    end
    writing.close
    out = reading.read.force_encoding("UTF-8")
    [out, Child.wait(pid).exitstatus]
  ensure
    reading&.close
  end

  def self.list(test, program = Suite::RCORE, name: nil, &before)
    out, status = rcore("ps", "--json", *name, program: program, &before)
    report = JSON.parse(out)
    test.same("schema", "rcore-ps/1", report["schema"])
    test.same("order", report["processes"].map { |row| row["pid"] }.sort, report["processes"].map { |row| row["pid"] })
    [report["processes"], status]
  end
end
