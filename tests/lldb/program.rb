# SPDX-License-Identifier: MIT
require "fileutils"
require "timeout"
require "tmpdir"
require_relative "../support/child"
require_relative "../truth/fixture"
require_relative "../truth/workshop"

# Runs a program of this folder: `parked` sleeps, `calls` and `turns` never do.
class Program
  TIMEOUT = Child::LIMIT
  ROOT = Child::ROOT

  attr_reader :pid, :core

  def initialize(ruby, name = "parked")
    @folder = Dir.mktmpdir("rcore-tests.", ruby.outside("/tmp"))
    File.chmod(0o755, @folder)
    FileUtils.cp([File.join(__dir__, name, "main.rb"), File.join(__dir__, "context.rb")], @folder)
    build_extension(ruby) if ruby.version < Gem::Version.new("3.2")
    inside = ruby.root.empty? ? @folder : @folder.delete_prefix(ruby.root)
    @child = Process.spawn(*ruby.command(["main.rb"], directory: inside, environment: { "CONTEXTS" => "needed" }), in: "/dev/null", %i[out err] => File.join(@folder, "output"))
    wait_until("ready") { File.exist?(path("ready")) }
    @pid = Integer(File.read(path("ready")))
    rest if name == "parked"
  rescue StandardError
    close
    raise
  end

  def alive?
    !File.read("/proc/#{@pid}/stat")[/\) (\w)/, 1].match?(/[ZX]/)
  rescue Errno::ENOENT
    false
  end

  # Whether the core lacks memory. Newer C libraries put the guard page of a stack into its mapping, and gdb skips the
  # rest of such a mapping.
  def lost?
    File.read(path("gcore")).scrub.include?("Memory read failed for corefile section")
  end

  def path(name)
    File.join(@folder, name)
  end

  def close
    Child.stop(@child, @pid || @child)
    FileUtils.rm_rf(@folder)
  end

  # Waits until its threads sleep. A debugger that stopped it has woken them.
  def settle
    wait_until("asleep") { asleep? }
  end

  private

  def wait_until(what)
    Timeout.timeout(TIMEOUT) { sleep 0.05 until yield }
  rescue Timeout::Error
    raise "the program is not #{what} after #{TIMEOUT} seconds: #{File.read(path("output"))}"
  end

  # Looks twice, because a thread may also sleep for a moment before it is done.
  def asleep?
    2.times.all? { sleep 0.1; Dir["/proc/#{@pid}/task/*/stat"].all? { |path| File.read(path)[/\) (\w)/, 1] == "S" } }
  end

  def build_extension(ruby)
    workshop = Workshop.new(ruby)
    FileUtils.cp(workshop.extension.find { |file| file.end_with?("/profiler_state.so") }, @folder)
  ensure
    workshop&.close
  end

  def rest
    settle
    take_core
  end

  def take_core
    system(*ROOT, "gcore", "-o", path("core"), @pid.to_s, %i[out err] => path("gcore")) or raise "no core: #{File.read(path("gcore"))}"
    @core = path("core.#{@pid}")
    system(*ROOT, "chown", Process.uid.to_s, @core) unless ROOT.empty?
  end
end
