# SPDX-License-Identifier: MIT
require_relative "../support/profile_endings"

# Outputs that cannot be written at the end: the samples are kept, and the command that rcore prints makes the outputs.
module Lost
  # Full disks of the test's own, which nothing else sees.
  MOUNT = 'for disk; do [ "$disk" = -- ] && break; mount -t tmpfs -o size=64k none "$disk" && head -c 65536 /dev/zero >"$disk/full" 2>/dev/null; shift; done; shift; cd "$PWD" && exec "$@"'

  def self.cases(_)
    root = Process.uid.zero? ? { "each output" => :each, "the present folder is full" => :full_here, "a disk that becomes read-only" => :read_only, "a recording besides" => :beside, "a disk that is full before the first sample" => :full_at_first } : {}
    { "removed folder" => :removed, "removed recording" => :removed_recording, "no place" => :nowhere, "names" => :names, "standard output" => :standard_output,
      "a reader that has gone" => :unread, "nothing is left" => :nothing_left, "no sample meets a condition" => :condition, **root }.map do |name, method|
      SamplerCase.new("lost #{name}") { Lost.with_program(self) { |pid, folders| Lost.public_send(method, self, pid, folders) } }
    end
  end

  Folders = Struct.new(:out, :here, :temporary) do
    # Every file of these, and of those below them.
    def files
      Dir.glob("{#{to_a.join(",")}}/**/*", File::FNM_DOTMATCH).select { |path| File.file?(path) }
    end
  end

  def self.with_program(test)
    folders = Folders.new(*%w[out here temporary].map { |name| File.join(test.folder, name).tap { |path| Dir.mkdir(path) } })
    pid = Process.spawn(RbConfig.ruby, "--disable-gems", "-e", "def work(n) = n.zero? ? 0 : work(n - 1)\nloop { work(20) }", pgroup: true)
    yield pid, folders
  ensure
    Child.stop(pid) if pid
  end

  # Starts rcore in the current folder of the test, and lets the block break something once there are samples.
  def self.record(test, pid, folders, *options, disks: [], out: nil, environment: {})
    log = File.join(test.folder, "log")
    command = [Suite::RCORE, "record", "-p", pid.to_s, "-r", "499", *options]
    command = ["unshare", "-m", "sh", "-c", MOUNT, "sh", *disks, "--", *command] if disks.any?
    recorder = Process.spawn({ "TMPDIR" => folders.temporary, **environment }, *SamplerCase::ROOT, *command, chdir: folders.here, out: out || File.join(test.folder, "output"), err: log)
    sleep 2.5
    yield recorder if block_given?
    Child.signal(:INT, recorder)
    status = Child.wait(recorder).exitstatus
    [status, File.read(log)]
  end

  KEPT = /^rcore: the samples are in (?<path>.*?)(?:; `(?<command>rcore report .*)` makes the outputs? from them)?$/.freeze

  # Checks the message and what it names, and returns the names of the outputs that its command has made.
  def self.kept(test, folders, status, log, folder, outputs)
    test.same("exit status in #{log}", 2, status)
    lines = log.lines.grep(KEPT)
    return test.fail("no line says where the samples are: #{log}") if lines.size != 1
    found = lines.first.match(KEPT)
    path = File.expand_path(Open3.capture2("bash", "-c", "printf %s #{found[:path]}").first.force_encoding("UTF-8"), folders.here)
    test.same("the folder in #{log}", File.realpath(folder), File.realpath(File.dirname(path)))
    test.same("mode of the recording", 0o600, File.stat(path).mode & 0o777)
    samples = Integer(log[/rcore: (\d+) samples? in/, 1])
    test.same("samples of the recording", samples, test.read(path).sum("samples") { |total| total["state"] != "parked" })
    return if outputs.nil?
    bin = File.join(test.folder, "bin").tap { |name| FileUtils.mkdir_p(name) }
    FileUtils.ln_sf(File.expand_path(Suite::RCORE), File.join(bin, "rcore"))
    out, err, made = Open3.capture3({ "PATH" => "#{bin}:#{ENV["PATH"]}" }, "bash", "-c", found[:command], chdir: folders.here)
    test.same("the command #{found[:command]}", [true, ""], [made.success?, err])
    outputs.each { |output| test.fail("#{output} was not made by #{found[:command]}") unless File.size?(File.expand_path(output, folders.here)) }
    test.fail("no table") unless outputs.any? || out.include?("Object#work")
  end

  def self.each(test, pid, folders)
    outputs = ProfileEndings.of(Suite::RCORE).map { |ending| File.join(folders.out, "slow#{ending}") }
    status, log = record(test, pid, folders, *outputs.flat_map { |path| ["-o", path] }, disks: [folders.out])
    kept(test, folders, status, log, folders.here, outputs)
  end

  def self.full_here(test, pid, folders)
    status, log = record(test, pid, folders, "-o", "../out/slow.svg", "--mode", "cpu", "--by", "thread", disks: [folders.out, folders.here])
    kept(test, folders, status, log, folders.temporary, ["../out/slow.svg"])
    test.fail("not all options: #{log}") unless log.include?(" --by thread --mode cpu`")
  end

  # The disk becomes read-only while rcore records.
  def self.read_only(test, pid, folders)
    script = 'mount -t tmpfs none "$1" && out=$1 && shift && { "$@" & } && sleep 2 && mount -o remount,ro "$out" && wait $!'
    command = [Suite::RCORE, "record", "-p", pid.to_s, "-r", "499", "-d", "4", "-o", "#{folders.out}/slow.svg"]
    _, err, status = Open3.capture3({ "TMPDIR" => folders.temporary }, "unshare", "-m", "sh", "-c", script, "sh", folders.out, *command, chdir: folders.here)
    kept(test, folders, status.exitstatus, err, folders.here, [File.join(folders.out, "slow.svg")])
  end

  # If there is a recording already, rcore keeps no second one.
  def self.beside(test, pid, folders)
    status, log = record(test, pid, folders, "-o", "load.rec", "-o", "../out/slow.svg", "-o", "good.txt", disks: [folders.out])
    kept(test, folders, status, log, folders.here, ["../out/slow.svg"])
    test.fail("not load.rec, or more than one output: #{log}") unless log.include?("`rcore report load.rec -o ../out/slow.svg`")
    test.same("files", %w[good.txt load.rec], Dir.children(folders.here).grep_v(/json/).sort)
  end

  def self.removed(test, pid, folders)
    status, log = record(test, pid, folders, "-o", File.join(folders.out, "slow.svg")) { FileUtils.rm_rf(folders.out) }
    Dir.mkdir(folders.out)
    kept(test, folders, status, log, folders.here, [File.join(folders.out, "slow.svg")])
  end

  def self.removed_recording(test, pid, folders)
    status, log = record(test, pid, folders, "-o", File.join(folders.out, "load.rec")) { FileUtils.rm_rf(folders.out) }
    kept(test, folders, status, log, folders.here, nil)
    test.fail("no reason, or a command: #{log}") unless log.match?(/load\.rec: another program removed it while/) && !log.include?("rcore report")
  end

  # No folder can be written: rcore says that, too.
  def self.nowhere(test, pid, folders)
    status, log = record(test, pid, folders, "-o", File.join(folders.out, "slow.svg")) do
      FileUtils.rm_rf(folders.to_a)
    end
    test.same("exit status", 2, status)
    test.fail("not said: #{log}") unless log.include?("rcore: the samples are lost")
  ensure
    FileUtils.mkdir_p(folders.to_a)
  end

  NAMES = ["two words", "quote's", "dollar$HOME", "-dash", "日本語", "line\nbreak", "\e[31mred"].freeze

  # The printed command is right for each name, and rcore replaces no file.
  def self.names(test, pid, folders)
    File.write(File.join(folders.here, "-dash.rec"), "old")
    NAMES.each do |name|
      folder = File.join(folders.out, name)
      Dir.mkdir(folder)
      status, log = record(test, pid, folders, "-o", File.join(folder, "#{name}.svg")) { Dir.rmdir(folder) }
      Dir.mkdir(folder)
      kept(test, folders, status, log, folders.here, [File.join(folder, "#{name}.svg")])
      test.fail("a control character: #{log.inspect}") if log.match?(/[\e]/)
    end
    test.same("a file with that name", "old", File.read(File.join(folders.here, "-dash.rec")))
  end

  def self.standard_output(test, pid, folders)
    status, log = record(test, pid, folders, out: "/dev/full")
    kept(test, folders, status, log, folders.here, [])
  end

  # `rcore record | head -1` needs no recording.
  def self.unread(test, pid, folders)
    reader, writer = IO.pipe
    reader.close
    record(test, pid, folders, out: writer)
    test.same("files", [], folders.files)
  ensure
    writer&.close
  end

  def self.nothing_left(test, pid, folders)
    status, log = record(test, pid, folders, "-o", "slow.svg", "-o", "../out/slow.txt")
    test.same("exit status", [0, false], [status, log.match?(KEPT)])
    test.same("files", [File.join(folders.here, "slow.svg"), File.join(folders.out, "slow.txt")], folders.files.sort)
  end

  # Samples that do not meet the condition are not lost.
  def self.condition(test, pid, folders)
    status, log = record(test, pid, folders, "--where", "no_such_label=1", "-o", "slow.svg")
    test.same("exit status", [64, false], [status, log.match?(KEPT)])
    test.same("files", [], folders.files)
  end

  # Each sample has all of these names, which do not fit into the free page.
  DEEP = "names = Array.new(300) { |i| \"m\#{i}_\#{Random.bytes(30).unpack1(\"H*\")}\" }\n" \
         "names.each_cons(2) { |name, other| eval(\"def \#{name} = \#{other}\") }\n" \
         "eval(\"def \#{names.last} = loop {}\")\nsend(names.first)"
  ONE_PAGE = 'mount -t tmpfs -o size=64k none "$1" && head -c 61440 /dev/zero >"$1/full" && shift && cd "$PWD" && exec "$@"'

  # No sample is in the recording, so rcore does not say that they are, and replaces nothing.
  def self.full_at_first(test, _, folders)
    pid = Process.spawn(RbConfig.ruby, "--disable-gems", "-e", DEEP, pgroup: true)
    [["-o", "../out/load.rec"], ["-o", "../out/load.rec", "-o", "slow.txt"], ["-o", "slow.txt"]].each do |outputs|
      old = File.join(folders.here, "slow.txt")
      File.write(old, "old")
      command = ["unshare", "-m", "sh", "-c", ONE_PAGE, "sh", folders.out, Suite::RCORE, "record", "-p", pid.to_s, "-d", "4", *outputs]
      _, err, status = Open3.capture3({ "TMPDIR" => folders.out }, *command, chdir: folders.here)
      test.same("exit status in #{err}", [2, false], [status.exitstatus, err.match?(KEPT)])
      test.fail("not said: #{err}") unless err.include?("No space left on device")
      test.same("files", [[old], "old"], [folders.files, File.read(old)])
    end
  ensure
    Child.stop(pid) if pid
  end
end
