# SPDX-License-Identifier: MIT
require "fileutils"
require "open3"
require "tmpdir"
require_relative "../support/child"

# A program of this folder that runs until the test ends it.
class RunningProgram
  attr_reader :pid, :folder

  def initialize(ruby, program, *arguments)
    @folder = Dir.mktmpdir("rcore-tests.", ruby.outside("/tmp"))
    File.chmod(0o755, @folder)
    FileUtils.cp(File.join(__dir__, program), @folder)
    command = ruby.command(["-W0", program, *arguments.map(&:to_s)], directory: @folder.delete_prefix(ruby.root))
    @pid = Process.spawn(*command, rlimit_core: Process::RLIM_INFINITY, in: "/dev/null", %i[out err] => output)
    says("ready")
  end

  # Waits until it has printed this.
  def says(word)
    deadline = now + 60
    sleep(0.05) until File.read(output).include?(word) || now > deadline
  end

  # Stops it as Ctrl-Z does.
  def stop
    Process.kill(:STOP, @pid)
    deadline = now + 60
    sleep(0.01) until state == "T" || now > deadline
  end

  # The path of a core that gdb writes.
  def gcore(name)
    path = File.join(@folder, name)
    said, status = Open3.capture2e("gcore", "-o", path, @pid.to_s)
    raise "gcore: #{said}" unless status.success?
    "#{path}.#{@pid}"
  end

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  def output = File.join(@folder, "output")

  def state = File.read("/proc/#{@pid}/status")[/^State:\s+(\S)/, 1]

  def children = File.read("/proc/#{@pid}/task/#{@pid}/children").split

  # Ends the process without running more of its code; returns its core.
  def core
    Process.kill(:XCPU, @pid)
    Process.kill(:CONT, @pid)
    Child.wait(@pid)
    @pid = nil
    Dir[File.join(@folder, "core*")].first or raise "no core:\n#{File.read(output)}"
  end

  def heap(*words) = Open3.capture3(RCORE, "heap", *words, "-p", @pid.to_s)

  def end
    Process.kill(:KILL, @pid) if @pid
    Child.wait(@pid) if @pid
    FileUtils.rm_rf(@folder)
  end
end
