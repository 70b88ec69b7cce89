# SPDX-License-Identifier: MIT
require "json"
require "open3"
require "timeout"
require "tmpdir"
require_relative "../support/child"

# An LLDB, started by `rcore lldb`.
class Lldb
  class Failed < StandardError; end

  Answer = Struct.new(:command, :output, :error, :value)

  CACHE = ENV["RCORE_CACHE"] || File.join(ENV["XDG_CACHE_HOME"] || File.join(Dir.home, ".cache"), "rcore")

  attr_reader :name

  # Debian's packages of several LLDBs conflict with each other: all but one are in folders.
  def self.all
    folder = File.join(CACHE, "debuggers/lldb-14")
    [new("lldb-19", "lldb-19", nil), new("lldb-14", File.join(folder, "usr/lib/llvm-14/bin/lldb"), folder)]
  end

  def initialize(name, program, folder)
    @name, @program, @folder = name, program, folder
  end

  # target: the arguments after `rcore lldb`. Returns an Answer for each
  # command.
  def run(rcore, target, commands)
    drive(commands) { |arguments| [rcore, "lldb", "--debugger", @program, *target, "--", *arguments] }
  end

  # Without `rcore lldb`: imports the plugin, and runs the commands `before`.
  def bare(rcore, before, commands)
    script = File.expand_path("../../lldb/rcore_lldb.py", __dir__)
    lines = ["command script import #{script}", *before].flat_map { |line| ["-o", line] }
    drive(commands, "RCORE_LIBRARY" => File.join(File.dirname(rcore), "librcore.so.0")) { |arguments| [@program, *lines, *arguments] }
  end

  # Opens a core as people do who have no rcore.
  def plain(core, ruby, commands)
    opened(core, ruby.outside(ruby.program), ruby.root, commands)
  end

  def opened(core, executable, root, commands)
    sysroot = root.empty? ? [] : ["-O", "platform select --sysroot #{root} remote-linux"]
    drive(commands) { |arguments| [@program, *sysroot, "--core", core, executable, *arguments] }
  end

  # Returns nil if this release has no server that can choose its port.
  def server
    "lldb-server-19" if @program == "lldb-19"
  end

  # Returns the port at which the process can be debugged.
  def serve(pid)
    Dir.mktmpdir do |folder|
      pipe = File.join(folder, "port")
      File.mkfifo(pipe)
      child = Process.spawn(server, "gdbserver", "--attach", pid.to_s, "--named-pipe", pipe, "127.0.0.1:0", %i[out err] => File::NULL)
      begin
        yield Timeout.timeout(Child::LIMIT) { File.read(pipe).to_i }
      ensure
        Child.stop(child)
      end
    end
  end

  private

  def drive(commands, more = {})
    Dir.mktmpdir do |folder|
      given, wanted = File.join(folder, "in"), File.join(folder, "out")
      File.write(given, JSON.generate(commands))
      driver = File.expand_path("driver.py", __dir__)
      line = yield ["--no-lldbinit", "--batch", "-o", "command script import #{driver}", "-o", "drive #{given} #{wanted}"]
      out, status = Open3.capture2e(environment.merge(more), "timeout", "-k", "5", (2 * Child::LIMIT).to_s, *line, stdin_data: "")
      raise Failed, "#{name} came to no end (#{status.inspect}): #{out}" unless File.exist?(wanted)
      raise Failed, "#{name} printed a traceback: #{out}" if out =~ /Traceback|File "/
      answers = JSON.parse(File.read(wanted))
      commands.zip(answers).map { |command, answer| Answer.new(command, *answer.values_at("output", "error", "value")) }
    end
  end

  # What an embedder of its own would have to know: where its libraries and its Python are, and no colors.
  def environment
    own = @folder ? { "LD_LIBRARY_PATH" => File.join(@folder, "own"), "PYTHONHOME" => File.join(@folder, "usr") } : {}
    { **own, "TERM" => "dumb", "LC_ALL" => "C.UTF-8", "PYTHONDONTWRITEBYTECODE" => "1" }
  end
end
