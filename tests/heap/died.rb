# SPDX-License-Identifier: MIT
require "fileutils"
require "json"
require "open3"
require "tmpdir"
require_relative "../support/child"
require_relative "../truth/rubies"

RCORE = File.realpath(ENV["RCORE"] || File.expand_path("../../build/rcore", __dir__))

# A program that died in a folder of its own, where a Ruby of another folder can reach it.
class Died
  def initialize(ruby, program)
    @ruby = ruby
    @folder = Dir.mktmpdir("rcore-tests.", ruby.outside("/tmp"))
    File.chmod(0o755, @folder)
    FileUtils.cp(File.join(__dir__, program), @folder)
    @program = program
  end

  # Makes an extension for this Ruby beside the program, and returns its file.
  def compile(name)
    headers = Dir[@ruby.outside("/usr/include{/,/*-linux-gnu/}ruby-#{@ruby.name[/\A[\d.]+/]}.0")]
    command = ["gcc", "-shared", "-fPIC", "-w", *headers.map { |folder| "-I#{folder}" },
               "-o", File.join(@folder, "#{name}.so"), File.join(__dir__, "#{name}.c")]
    out, status = Open3.capture2e(*command)
    raise "gcc: #{out[0, 600]}" unless status.success?
    File.join(@folder, "#{name}.so")
  end

  def start(*arguments)
    command = @ruby.command(["-W0", @program, *arguments], directory: @folder.delete_prefix(@ruby.root))
    Process.spawn(*command, rlimit_core: Process::RLIM_INFINITY, in: "/dev/null", %i[out err] => output)
  end

  def output = File.join(@folder, "output")

  def core = Dir[File.join(@folder, "core*")].first || raise("no core:\n#{File.read(output)}")

  # The JSON of `rcore heap SUBCOMMAND`; nil if the layout lacks fields.
  def look(subcommand, *words)
    out, problem, status = Open3.capture3(RCORE, "heap", subcommand, "--json", *@ruby.files, core, *words)
    return if problem.include?("is not measured")
    raise "rcore heap #{subcommand} ended with #{status.exitstatus}: #{problem}" unless [0, 1].include?(status.exitstatus)
    JSON.parse(out)
  end

  # What `rcore heap` prints for people.
  def text = Open3.capture2(RCORE, "heap", "--limit", "0", *@ruby.files, core).first

  # What `rcore heap dump` prints of each object, by address.
  def dump
    out, problem, status = Open3.capture3(RCORE, "heap", "dump", *@ruby.files, core)
    raise "rcore heap dump ended with #{status.exitstatus}: #{problem}" unless [0, 1].include?(status.exitstatus)
    out.each_line.filter_map { |line| JSON.parse(line.scrub) if line.include?('"address":') }.to_h { |object| [object["address"], object] }
  end

  def remove = FileUtils.rm_rf(@folder)
end
