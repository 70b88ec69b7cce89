# SPDX-License-Identifier: MIT
require "fileutils"
require "rbconfig"
require_relative "../support/child"

# What the benchmarks share: cores of programs.rb, which are made once and kept,
# and medians of a command's times.
HERE = __dir__
RCORE = File.realpath(ENV["RCORE"] || "build/rcore")
ROUNDS = (ARGV[0] || 9).to_i
CACHE = File.join(ENV["RCORE_CACHE"] || File.join(ENV["XDG_CACHE_HOME"] || File.expand_path("~/.cache"), "rcore"))
CORES = File.join(CACHE, "bench")
RUBY_3_3 = File.join(CACHE, "rubies", "3.3")
QUIET = {out: File::NULL, err: File::NULL}

def spawn_program(options, root = nil)
  FileUtils.mkdir_p(folder = root ? File.join(root, "tmp", "bench") : CORES)
  FileUtils.cp(File.join(HERE, "programs.rb"), folder)
  command = root ? ["chroot", root, "sh", "-c", "cd /tmp/bench && exec ruby programs.rb \"$@\"", "sh"]
                 : [RbConfig.ruby, "programs.rb"]
  reader, writer = IO.pipe
  pid = spawn(*command, *options, chdir: folder, out: writer, err: File::NULL, rlimit_core: Process::RLIM_INFINITY)
  writer.close
  reader.gets or abort "bench: the program to measure did not start"
  [pid, folder]
end

def core(name, options, root = nil)
  path = File.join(CORES, name)
  return path if File.exist?(path)
  pid, folder = spawn_program(options + ["ending=abort"], root)
  Child.wait(pid)
  made = Dir[File.join(folder, "core*")].max_by { |file| File.mtime(file) }
  made or abort "bench: no core; see /proc/sys/kernel/core_pattern"
  FileUtils.mkdir_p(CORES)
  FileUtils.mv(made, path)
  path
end

def once(command)
  before = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  cpu = Process.times
  system(*command, **QUIET)
  after = Process.times
  [Process.clock_gettime(Process::CLOCK_MONOTONIC) - before, after.cutime + after.cstime - cpu.cutime - cpu.cstime]
end

def median(values) = values.sort[values.size / 2]

# Returns the medians of [elapsed, CPU] seconds of each command. The commands
# take turns, after a round that is not measured.
def measure(*commands, rounds: ROUNDS)
  rounds = (rounds + 1).times.map { commands.map { |command| once(command) } }.drop(1)
  commands.each_index.map { |i| [0, 1].map { |part| median(rounds.map { |round| round[i][part] }) } }
end

# Returns the medians of three runs. Drops the core from the page cache before
# each.
def cold(core, command)
  rounds = 3.times.map do
    File.open(core) { |file| file.fdatasync; file.advise(:dontneed) }
    once(command)
  end
  [0, 1].map { |part| median(rounds.map { |round| round[part] }) }
end

def row(what, times, base = nil)
  ratio = base ? format("  %5.2f  %5.2f", times[0] / base[0], times[1] / [base[1], 0.001].max) : ""
  puts format("  %-44s %8.1f ms %8.1f ms%s", what, times[0] * 1000, times[1] * 1000, ratio)
end

# Returns the most memory that a command uses, in bytes. Reads VmHWM until the
# command ends.
def resident(command)
  pid = spawn(*command, **QUIET)
  most = 0
  until Process.wait(pid, Process::WNOHANG)
    most = [most, File.read("/proc/#{pid}/status")[/^VmHWM:\s+(\d+)/, 1].to_i].max
    sleep 0.002
  end
  most * 1024
end
