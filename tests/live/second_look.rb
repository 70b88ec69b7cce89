# SPDX-License-Identifier: MIT

# Threads that stand still wait for the same at each look: the first, the twentieth, and that of gcore's core
# after it.
module SecondLook
  LOOKS = 20
  # As root, with a server of names that never answers.
  BEFORE = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" "$1" && shift && exec "$@"'].freeze

  def self.cases(rubies)
    rubies.map { |ruby| LiveCase.new("second look #{ruby.name}") { SecondLook.look(self, ruby) } }
  end

  def self.look(test, ruby)
    Dir.mktmpdir("rcore-etc.") do |etc|
      FileUtils.cp_r(File.join(ruby.outside("/etc"), "."), etc)
      FileUtils.rm_f(File.join(etc, "resolv.conf"))
      File.write(File.join(etc, "resolv.conf"), "nameserver 127.0.53.1\noptions timeout:30 attempts:5\n")
      before = [*LiveCase::ROOT, *BEFORE, etc, ruby.outside("/etc")]
      test.with_program(ruby, "waiting.rb", before: before) do |pid, counter, folder|
        truth = JSON.parse(File.read(File.join(folder, "truth")))
        first = nil
        test.wait_until("truth in a look") { (first = waits(test, folder, "-p", pid)) == truth }
        LOOKS.times { |look| same(test, "look #{look + 2}", truth, waits(test, folder, "-p", pid)) }
        compared = core(test, ruby, folder, pid, truth)
        test.goes_on(counter)
        test.note = "#{truth.size} waits#{"; gcore wrote zeros for the stacks: not compared" unless compared}"
      rescue Debuggee::Failed
        same(test, "the first looks", truth, first)
      end
    end
  end

  # What each thread with a name waits for, without what only this process knows.
  def self.waits(test, folder, *target)
    report, status = test.report(*target)
    test.same("status", 0, status)
    waits = report["fibers"].filter_map { |fiber| [fiber["thread"], fiber["wait"]["text"]] if fiber["wait"] }.to_h
    names = report["threads"].to_h { |thread| [thread["name"], waits[thread["id"]]] }
    sleeper = report["threads"].find { |thread| thread["name"] == "sleeper" }&.fetch("id")
    names.compact.slice(*names.keys.compact).to_h { |name, text| [name, plain(text, folder, sleeper)] }
  end

  def self.plain(text, folder, sleeper)
    text = text.gsub(/0x\h+/, "OBJECT").sub(/end of #{sleeper}\b/, "end of sleeper").gsub(/\([^(]*#{File.basename(folder)}\/locked\)/, "(LOCKED)")
    text.sub(/connect fd \d+ \(socket:\[\d+\] TCP \S+ with/, "connect (socket TCP with")
  end

  # The kernel connects for two minutes only.
  def self.same(test, what, wanted, found)
    wanted = wanted.except("connect") if what != "the first looks" && !found["connect"]
    (wanted.keys | found.keys).each { |name| test.same("#{what}: #{name}", wanted[name], found[name]) }
  end

  # A core does not say what a descriptor is, nor who has a lock. Returns whether gcore could read the stacks.
  def self.core(test, ruby, folder, pid, truth)
    core = File.join(folder, "core")
    said, = Open3.capture2e(*LiveCase::ROOT, "gcore", "-o", core, pid.to_s)
    # From glibc 2.42 on, stacks begin with a guard that GDB 13 cannot read; it then writes zeros for all of them.
    return false if said.match?(/Memory read failed for corefile section, [1-9]\d{5,} bytes/)
    found = waits(test, folder, "#{core}.#{pid}", *ruby.files)
    wanted = truth.transform_values { |text| text.gsub(/ \((socket|pipe|LOCKED)[^)]*\)/, "").sub(/ held by process \d+/, "") }
    found = found.transform_values { |text| text.sub(/ \(\S*locked\)/i, "").sub(/connect fd \d+/, "connect") if text }
    same(test, "gcore's core", wanted, found)
    true
  end
end
