# SPDX-License-Identifier: MIT
require "json"
require "timeout"
require_relative "../support/child"

# One run of a fixture on a Ruby, up to its core file and its truth.
class Debuggee
  class Failed < StandardError; end

  TIMEOUT = Child::LIMIT
  ROOT = Child::ROOT

  attr_reader :core, :truth

  # directory: holds a copy of tests/fixtures, as the Ruby sees it.
  def initialize(ruby, fixture, variant, ending, directory)
    @ruby, @fixture, @variant, @ending = ruby, fixture, variant, ending
    @inside = File.join(directory, fixture.name)
    @outside = ruby.outside(@inside)
  end

  def run
    rehearse
    case @ending
    when :abort then Debuggee.kernel_cores? ? die : die_under_gdb
    else wait_for_gcore
    end
    @truth = read("truth.json")
    self
  end

  def rehearsal
    read("rehearsal.json")
  end

  # What gdb could not read when it wrote the core, and filled with zeroes:
  # newer C libraries guard a thread's stack with a page inside its mapping, and
  # gdb gives up the rest of the mapping.
  def lost
    starts = File.read(path("output")).scrub.scan(/Memory read failed for corefile section, \d+ bytes at (0x\h+)/)
    segments = IO.popen(["readelf", "-lW", @core], err: File::NULL, &:read).scan(/^ +LOAD +\S+ +(0x\h+) +\S+ +\S+ +(0x\h+)/)
    starts.flat_map do |(start)|
      segments.map { |address, size| [address.hex, address.hex + size.hex] }
              .select { |from, to| (from...to).cover?(start.hex) }.map { |_, to| start.hex...to }
    end
  end

  # Whether the kernel leaves cores in the working directory.
  def self.kernel_cores?
    return false if ENV["RCORE_NO_KERNEL_CORES"]
    File.read("/proc/sys/kernel/core_pattern") !~ %r{\A\||/}
  end

  private

  # Ruby's own defects end one of many thousand rehearsals: 2.7 crashes in a
  # thread that begins. rcore has not run by then, so the rehearsal is repeated,
  # and a line says so.
  REHEARSALS = 3

  def rehearse
    REHEARSALS.times do |count|
      status = wait(spawn_ruby("rehearsal"))
      break if File.exist?(path("rehearsal.json"))
      told = "the rehearsal ended with #{status.inspect}#{output}"
      raise Failed, told unless status.signaled? && count + 1 < REHEARSALS
      leave_no_core
      puts "      again: #{told.lines.first(2).join.chomp}"
    end
    leave_no_core
  end

  def die
    status = wait(spawn_ruby("abort"))
    @core = Dir[path("core*")].max_by { |file| File.mtime(file) }
    raise Failed, "no core file in #{@outside}: the program ended with #{status.inspect}#{output}" unless @core
    own(@core)
  end

  # A SIGSEGV that Ruby handles ends in SIGABRT; any other one ends the process
  # at once.
  def die_under_gdb
    @core = path("core")
    %w[nostop stop].each do |at_fault|
      arguments = ["-q", "-batch", "-ex", "handle SIGSEGV #{at_fault} pass", "-ex", "handle SIGUSR1 nostop pass",
                   "-ex", "set follow-fork-mode #{@fixture.forks?(@variant) ? 'child' : 'parent'}",
                   "-ex", "run", "-ex", "generate-core-file #{@core}", "--args", *command("abort")]
      wait(Process.spawn("gdb", *arguments, in: "/dev/null", %i[out err] => [path("output"), "w"]))
      return if File.exist?(@core)
    end
    raise Failed, "gdb took no core in #{@outside}#{output}"
  end

  def wait_for_gcore
    pid = spawn_ruby(@ending == :stop ? "stop" : "sleep")
    wait_until("truth.json") { File.exist?(path("truth.json")) }
    process = read("truth.json")["pid"]
    wait_until("state #{@ending}") { settled?(process) }
    take_gcore(process)
  ensure
    Child.stop(pid, process || pid) if pid
  end

  # gdb is not tested here. Once in some thousand times, it writes no core of a
  # process that is alive. Then it is run again, and what it printed is shown.
  CORES = 3

  # Writes the core of a process that lives on, with gcore or a command that
  # writes the same file.
  def take_gcore(process, *taker)
    @core = path("core.#{process}")
    taker = ["gcore", "-o", path("core"), process.to_s] if taker.empty?
    CORES.times do |count|
      status = taken_by(taker)
      return own(@core) if File.exist?(@core)
      told = "#{taker.first} took no core in #{@outside}: #{status.inspect}, process #{process} " +
             (File.exist?("/proc/#{process}") ? "still runs" : "is gone") + output(last: true)
      raise Failed, told unless count + 1 < CORES && File.exist?("/proc/#{process}")
      puts "      again: #{told}"
    end
  end

  def taken_by(taker)
    system(*ROOT, *taker, %i[out err] => [path("output"), "a"])
    $?
  end

  def command(truth)
    arguments = [*@fixture.flags, "-W0", "main.rb", *@variant]
    @ruby.command(arguments, directory: @inside, environment: @fixture.environment.merge("TRUTH" => truth))
  end

  def spawn_ruby(truth)
    Process.spawn(*command(truth), rlimit_core: Process::RLIM_INFINITY, in: "/dev/null",
                  %i[out err] => [path("output"), "w"])
  end

  def wait(pid)
    Child.wait(pid)
  rescue Child::Stuck => error
    raise Failed, "#{error.message}#{output}"
  end

  def wait_until(what)
    Timeout.timeout(TIMEOUT) { sleep 0.02 until yield }
  rescue Timeout::Error
    raise Failed, "no #{what} after #{TIMEOUT} seconds#{output}"
  end

  # Whether each thread is stopped, or asleep, and none has run since the last
  # look. One look is not enough: a thread that waits for the GVL before it
  # reaches its final place also sleeps.
  def settled?(pid, ending = @ending)
    before = @threads
    @threads = Dir.children("/proc/#{pid}/task").to_h do |tid|
      [tid, File.read("/proc/#{pid}/task/#{tid}/status").scan(/^(?:State|\w+_ctxt_switches):\s+\S+/)]
    end
    @threads == before && @threads.values.all? { |lines| lines.first.end_with?(ending == :stop ? "T" : "S") }
  rescue Errno::ENOENT, Errno::ESRCH
    false
  end

  # If sudo was involved, the kernel writes a core that only root can read.
  def own(file)
    system(*ROOT, "chown", Process.uid.to_s, file) unless ROOT.empty?
  end

  def leave_no_core
    Dir[path("core*")].each { |file| File.delete(file) }
  end

  def path(name)
    File.join(@outside, name)
  end

  def read(name)
    JSON.parse(File.read(path(name)), max_nesting: false)
  rescue Errno::ENOENT
    raise Failed, "no #{name} in #{@outside}#{output}"
  end

  # Indented, as tests/all keeps the indented lines that follow a failure.
  def output(last: false)
    lines = File.exist?(path("output")) ? File.read(path("output")).scrub.lines : []
    lines = last ? lines.last(15) : lines.first(15)
    lines.empty? ? "" : ":\n" + lines.map { |line| "          #{line}" }.join
  end
end
