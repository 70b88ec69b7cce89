# SPDX-License-Identifier: MIT
require_relative "../truth/rubies"
require_relative "../truth/debuggee"

# A Ruby for another machine. It runs without chroot: the emulator looks in the
# folder first for what the program opens.
class EmulatedRuby < TestRuby
  EMULATOR = "qemu-aarch64-static"
  COMPILER = "aarch64-linux-gnu-gcc"
  # The share of the cases that a run draws; see tests/aarch64/run.
  SHARE = 0.3

  # series: "3.1", of Debian's bookworm.
  def initialize(series)
    super("#{series}-arm64", "#{series}-arm64", nil, "/usr/bin/ruby#{series}")
    @root = ""
    @executable = File.join(@folder, @program)
    @substitutes = { @program => [EMULATOR, "-L", @folder, @executable], "gcc" => [COMPILER] }
  end

  def missing
    return "no Ruby #{@name}: `make setup-tests` makes #{@folder}" unless File.exist?(@executable)
    tool = [EMULATOR, COMPILER].find { |name| ENV["PATH"].split(":").none? { |bin| File.executable?(File.join(bin, name)) } }
    "no #{tool}: `make setup-tests` installs it" if tool
  end

  def machine
    "aarch64"
  end

  def shell(command, directory: "/")
    super(command.flat_map { |word| @substitutes.fetch(word, [word]) }, directory: directory)
  end

  def files
    [@executable, "--sysroot", @folder]
  end

  def debuggee
    EmulatedDebuggee
  end

  # gdb would see the emulator.
  def endings
    %i[abort]
  end

  def build_flags
    super.map { |flag| flag.sub("-I", "-I#{@folder}") }
  end
end

# The emulator writes qemu_PROGRAM_TIME_PID.core, and the kernel may leave one of the emulator.
class EmulatedDebuggee < Debuggee
  # In the core of a forked child qemu gives the thread that forked its parent's id.
  def run
    super
    notes = IO.popen(["eu-readelf", "-n", @core], &:read)
    unless notes.scan(/^    pid: (\d+)/).flatten.map(&:to_i).include?(@truth["pid"])
      parent = notes[/ppid: (\d+)/, 1].to_i
      @truth["threads"].to_a.each { |thread| thread["tid"] = parent if thread["tid"] == @truth["pid"] }
    end
    self
  end

  private

  def die
    wait(spawn_ruby("abort"))
    leave_no_core
    @core = Dir[path("qemu_*.core")].max_by { |file| File.mtime(file) }
    raise Failed, "no core file in #{@outside}#{output}" unless @core
  end

  alias die_under_gdb die
end
