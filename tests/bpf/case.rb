# SPDX-License-Identifier: MIT
require_relative "../live/case"
require_relative "../truth/fixture"
require_relative "workshop"

# A test of BPF programs that include rcore/ruby.bpf.h.
class BpfCase < LiveCase
  TOP = File.expand_path("../..", __dir__)
  PROGRAMS = File.join(__dir__, "programs")
  SYSTEM = %w[-idirafter /usr/include/x86_64-linux-gnu].freeze

  # Builds what the tests run, in `folder`: the example as its users do.
  def self.build(folder)
    FileUtils.mkdir_p(File.join(folder, "include/rcore"))
    FileUtils.cp(File.join(TOP, "analyzer/model/ruby.bpf.h"), File.join(folder, "include/rcore"))
    FileUtils.cp_r(File.join(TOP, "examples/bpf"), folder)
    FileUtils.cp(Dir[File.join(PROGRAMS, "stacks*")], folder)
    include = "-I#{folder}/include"
    run("make", "-s", "-C", File.join(folder, "bpf"), "INCLUDE=#{include}", "CFLAGS=-O2 -Wall -Wextra -Werror")
    run("clang", "--target=bpf", "-O2", "-g", "-Wall", "-Wextra", "-Werror", *SYSTEM, include, "-c", "#{folder}/stacks.bpf.c", "-o", "#{folder}/stacks.bpf.o")
    File.write("#{folder}/stacks.skel.h", run("/usr/sbin/bpftool", "gen", "skeleton", "#{folder}/stacks.bpf.o", "name", "stacks"))
    run("gcc", "-O2", "-Wall", "-Wextra", "-Werror", include, "-I#{folder}", "#{folder}/stacks.c", "-o", "#{folder}/stacks", "-lbpf")
    File.chmod(0o755, folder)
    @folder = folder
  end

  def self.run(*command)
    out, err, status = Open3.capture3(*command)
    status.success? ? out : abort("tests/bpf/run: #{command.join(" ")}\n#{err}")
  end

  def self.program(name)
    File.join(@folder, name)
  end

  # Returns why this kernel runs no BPF program; nil if it does. A program that
  # its verifier refuses is a failure.
  def self.refused
    return "no /sys/kernel/btf/vmlinux" unless File.exist?("/sys/kernel/btf/vmlinux")
    Open3.popen3(*ROOT, program("bpf/writes"), pgroup: true) do |_, _, err, thread|
      lines = []
      while (line = err.gets)
        lines << line
        break Child.signal(:INT, -thread.pid) if line == "counting\n"
      end
      return if thread.value.success?
      why = lines.last.to_s[/: (Operation not permitted|Function not implemented|Operation not supported)$/, 1]
      why or abort("tests/bpf/run: #{lines.join}")
    end
  end

  def initialize(name, needs_bpf: true, limit: 4 * TIMEOUT, &test)
    super(name, limit: limit, &test)
    @needs_bpf = needs_bpf
  end

  def needs_bpf?
    @needs_bpf
  end

  # What `rcore bpf-params` prints.
  def params(pid, *options)
    out, err, status = Open3.capture3(*ROOT, Suite::RCORE, "bpf-params", "-p", pid.to_s, *options, binmode: true)
    raise Debuggee::Failed, "rcore bpf-params: #{status}: #{err}" unless status.success? && err.empty?
    out
  end

  # A program that has said "ready", "counting" or the like; `input` and `errors` are kept open.
  Loader = Struct.new(:pid, :input, :output, :errors)

  def load(command, line, input = "")
    output = File.join(folder, "output-#{rand(1 << 60)}")
    reader, writer = IO.pipe
    errors, log = IO.pipe
    pid = Process.spawn({ "PATH" => "#{File.dirname(Suite::RCORE)}:#{ENV["PATH"]}" }, *ROOT, *command, in: reader, out: output, err: log, pgroup: true)
    [reader, log].each(&:close)
    writer.write(input)
    first = Timeout.timeout(TIMEOUT) { errors.gets }
    first =~ line or raise Debuggee::Failed, "#{command.first}: #{first}#{errors.read}"
    Loader.new(pid, writer, output, errors)
  end

  # The lines of a loader, which ends when its input ends or it gets a signal.
  def unload(loader)
    loader.input.close
    status = Child.wait(loader.pid)
    raise Debuggee::Failed, "the loader ended with #{status}" unless status.success?
    File.readlines(loader.output, chomp: true)
  end

  # Runs one of the programs of this folder on a Ruby. Once it is ready, the
  # block gets its process id; the program then runs to its end. Returns its
  # truth. `before` is put before its command.
  def truth_of(ruby, workshop, program, *arguments, environment: {}, before: [])
    inside = workshop.folder(program)
    folder = ruby.outside(inside)
    output = File.join(folder, "output")
    input, go = IO.pipe
    command = before + ruby.command([program, *arguments.map(&:to_s)], directory: inside, environment: environment)
    spawned = Process.spawn(*command, in: input, out: output, err: "#{output}.err", 99 => ["/dev/null", "w"], pgroup: true)
    begin
      input.close
      wait_until("sign of life: #{File.read("#{output}.err")}") { File.read(output).end_with?("\n") || !File.read("#{output}.err").empty? }
      pid = Integer(File.read(output), exception: false) or raise Debuggee::Failed, File.read("#{output}.err")
      yield pid, spawned
      go.puts
      status = Child.wait(spawned)
      raise Debuggee::Failed, "the program ended with #{status}: #{File.read("#{output}.err")}" unless status.success?
      JSON.parse(File.read(File.join(folder, "truth.json")))
    ensure
      go.close
      Child.stop(spawned, -spawned) rescue Errno::ECHILD
    end
  end
end
