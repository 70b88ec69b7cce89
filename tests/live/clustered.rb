# SPDX-License-Identifier: MIT

# A master and its workers: what --children reports about each and about all,
# and how they are found.
module Clustered
  NAMES = { "puma" => ["Puma master", "Puma worker 0", "Puma worker 1"],
            "unicorn" => ["Unicorn master", "Unicorn worker 0", "Unicorn worker 1"] }.freeze
  STUCK = /\A {10}Blocked: 3 threads wait for Mutex 0x\h+ held by T2, which sleeps until it is woken/

  def self.cases(rubies)
    ruby = rubies.find { |one| one.root.empty? } || rubies.first
    NAMES.keys.map { |server| LiveCase.new("cluster of #{server} #{ruby.name}") { Clustered.server(self, ruby, server) } } +
      [LiveCase.new("container's id #{ruby.name}") { Clustered.container(self, ruby) }]
  end

  def self.server(test, ruby, server)
    test.with_program(ruby, "workers.rb", server) do |pid, counter, folder|
      pids = [pid, *File.read(File.join(folder, "workers")).split.map(&:to_i)]
      NAMES[server].zip(pids).each { |role, each| test.same("process #{each}", role, role_of(test, pid, each)) }
      %w[analyze threads bt waits doctor].each { |command| named(test, command, pids, NAMES[server]) }
      pids_in_json(test, pids)
      suggested(test, pids, server)
      files(test, pids, folder)
      test.goes_on(counter)
    end
  end

  def self.rcore(command, *words)
    out, err, status = Open3.capture3(*LiveCase::ROOT, Suite::RCORE, command, *words.map(&:to_s), binmode: true)
    [out.force_encoding("UTF-8"), err, status.exitstatus]
  end

  def self.role_of(test, pid, member)
    out, = rcore("waits", "-p", pid, "--children")
    out[/^Process #{member}  (\w+ \w+(?: \d+)?)  /, 1]
  end

  # First the state of all, then each below its name, with what the command
  # prints for it alone.
  def self.named(test, command, pids, roles)
    out, err, status = rcore(command, "-p", pids.first, "--children")
    test.same("#{command}: errors, status", ["", 0], [err, status])
    first, *reports = out.split(/^(?=Process \d+  )/)
    lines = first.lines
    test.same("#{command}: first line", "3 Ruby processes\n", lines.shift)
    pids.zip(roles).each do |pid, role|
      line = lines.shift
      test.fail("#{command}: no #{role} in #{line.inspect}") unless line.start_with?("#{pid.to_s.rjust(8)}  #{role}  ")
      next unless role.end_with?(" 1") && command != "doctor"
      line = lines.shift
      test.fail("#{command}: not stuck: #{line.inspect}") unless line&.match?(STUCK)
    end
    test.same("#{command}: the rest of the summary", ["\n"], lines)
    test.same("#{command}: reports", pids, reports.map { |report| report[/\AProcess (\d+)/, 1].to_i })
    test.fail("#{command}: other reports") unless reports.all? { |report| report.lines.size > 1 }
  end

  def self.pids_in_json(test, pids)
    %w[waits state analyze].each do |command|
      out, = rcore(command, "-p", pids.first, "--children", "--json")
      objects = out.split(/^(?=\{$)/).map { |text| JSON.parse(text, max_nesting: false) }
      test.same("#{command} --json: pids", pids, objects.map { |object| object["pid"] })
      test.same("#{command} --json: sources", pids.map { |pid| "process #{pid}" }, objects.map { |object| object["source"] })
    end
  end

  # A file for each; one name for all is refused.
  def self.files(test, pids, folder)
    { %w[pack -o] => "hung.%p.core", %w[analyze -o] => "report.%p.json" }.each do |(command, option), name|
      _, err, status = rcore(command, "-p", pids.first, "--children", option, File.join(folder, name))
      test.same("#{command}: errors, status", ["", 0], [err, status])
      pids.each do |pid|
        file = File.join(folder, name.sub("%p", pid.to_s))
        out, = command == "pack" ? rcore("analyze", "--json", file) : [File.read(file)]
        test.same("#{file}: pid", pid, JSON.parse(out, max_nesting: false)["pid"])
      end
      _, err, status = rcore(command, "-p", pids.first, "--children", option, File.join(folder, "one"))
      test.same("#{command}: one name, status", 64, status)
      test.fail(err) unless err.include?("requires %p in the name of the file") && !File.exist?(File.join(folder, "one"))
    end
  end

  # One line, for people, of the master alone.
  def self.suggested(test, pids, server)
    out, err, = rcore("waits", "-p", pids.first)
    test.same("suggestion", "rcore: process #{pids.first} is a #{server.capitalize} master; with --children, rcore also reads its workers (2)\n", err)
    test.fail("the master is named: #{out}") if out.start_with?("Process")
    test.same("of a worker", "", rcore("waits", "-p", pids.last)[1])
    test.same("with JSON", "", rcore("waits", "-p", pids.first, "--json")[1])
  end

  ID = "%064x" % 0xc0ffee

  # In a mount namespace of rcore's own, another file replaces the cgroups of
  # the three.
  def self.container(test, ruby)
    test.with_program(ruby, "workers.rb", "puma") do |pid, counter, folder|
      workers = File.read(File.join(folder, "workers")).split.map(&:to_i)
      File.write(File.join(folder, "cgroup"), ["0::", "system.slice", "docker-#{ID}.scope\n"].join("/"))
      inside = lambda do |pids, *words|
        script = 'for pid in $1; do mount --bind "$0" /proc/$pid/cgroup || exit 99; done; shift; exec "$@"'
        out, err, status = Open3.capture3(*LiveCase::ROOT, "unshare", "--mount", "sh", "-c", script, File.join(folder, "cgroup"), pids.join(" "), Suite::RCORE, *words)
        [out, err, status.exitstatus]
      end
      out, = inside.call([pid, *workers], "waits", "--json", "--container", ID[0, 12])
      test.same("the master", pid, JSON.parse(out)["pid"])
      _, err, status = inside.call(workers, "waits", "--container", ID)
      test.same("two that are no master: status", 64, status)
      test.fail(err) unless err.include?("several Ruby processes: #{workers.join(", ")}; name one with -p PID")
      _, err, status = inside.call([pid], "waits", "--container", "abcd")
      test.same("another: status", 64, status)
      test.fail(err) unless err.start_with?("rcore: no Ruby process is in a container abcd")
      _, err, status = rcore("waits", "--container", ID, "-p", pid)
      test.same("two targets", [64, true], [status, err.include?("--container")])
      test.goes_on(counter)
    end
  end
end
