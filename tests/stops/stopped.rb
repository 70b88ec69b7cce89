# SPDX-License-Identifier: MIT
require "etc"
require "fileutils"
require "json"
require "open3"
require "tmpdir"
require_relative "../support/child"

# A Ruby program that is stopped at random moments, with truth.c in it.
class Stopped
  class Failed < StandardError; end

  RCORE = ENV["RCORE"] || File.expand_path("../../build/rcore", __dir__)
  TIMEOUT = 120 # seconds until what must come has come, on a busy machine
  MOMENT = 34 + 7 # SIGRTMIN + 7 of glibc, which takes two for itself
  TGKILL = 234
  FIELDS = %i[ready number expected leader arrived forked finished late].freeze

  # One look: what rcore reports, how it ended, what Ruby says; late: how many
  # threads waited for others in vain.
  Look = Struct.new(:report, :status, :said, :truth, :late)

  attr_reader :folder, :pid

  # command: runs the program in `folder`, which it sees as `inside`.
  def initialize(ruby, library, arguments, folder, inside, environment = {})
    @ruby, @library, @arguments, @folder, @inside, @environment = ruby, library, arguments, folder, inside, environment
    @number = 0
  end

  def run
    File.binwrite(path("control"), "\0" * 4 * FIELDS.size)
    File.chmod(0o666, path("control"))
    @spawned = Process.spawn(*command, in: "/dev/null", %i[out err] => [path("output"), "w"], pgroup: true,
                             rlimit_core: 0)
    wait_until("Ruby to be loaded: #{output}") { control[:ready] == 1 || ended? }
    @pid = found if control[:ready] == 1
    yield self
  ensure
    finish
  end

  # Returns nil if it ended by itself.
  def look(delay)
    sleep(delay)
    return if ended?
    Process.kill(:STOP, @pid)
    wait_until("all threads to stop") { ended? || stopped? }
    return if ended?
    report, status, said = analyze
    truth = truth_of(report)
    Look.new(report, status, said, truth, control[:late])
  rescue Errno::ESRCH, Errno::ENOENT
    nil
  end

  def output
    File.exist?(path("output")) ? File.read(path("output")).scrub.lines.last(8).join : ""
  end

  private

  def path(name)
    File.join(@folder, name)
  end

  def command
    own = { "LD_PRELOAD" => @library, "STOPS_FOLDER" => @inside, "TMPDIR" => @inside }
    @ruby.command(@arguments, directory: @inside, environment: own.merge(@environment))
  end

  # The one of the group whose memory has the library: sudo and chroot may stand before it.
  def found
    Dir.glob("/proc/[0-9]*").map { |each| File.basename(each).to_i }.find do |pid|
      stat = File.read("/proc/#{pid}/stat").split(") ").last.split
      stat[2].to_i == @spawned && File.read("/proc/#{pid}/maps").include?(File.basename(@library))
    rescue SystemCallError
      false
    end
  end

  def ended?
    return true if @ended
    @ended = !Process.wait(@spawned, Process::WNOHANG).nil?
  end

  def tasks
    Dir.children("/proc/#{@pid}/task").map(&:to_i).sort
  end

  def stopped?
    tasks.all? { |tid| File.read("/proc/#{@pid}/task/#{tid}/stat")[/.*\) (\w)/, 1] == "T" }
  end

  def analyze
    out, err, status = Open3.capture3(RCORE, "analyze", "--json", "-p", @pid.to_s, binmode: true)
    [JSON.parse(out.force_encoding("UTF-8"), max_nesting: false), status.exitstatus || status.inspect, err]
  rescue JSON::ParserError
    [nil, status.exitstatus || status.inspect, err]
  end

  # Threads that Ruby does not know, and that block all signals, are not waited for (its timer thread). One of Ruby's blocks
  # them while it starts another: it comes as soon as it is through.
  def truth_of(report)
    @number += 1
    ruby = report ? report["threads"].to_a.map { |thread| thread["tid"] } : []
    ready = tasks.select { |tid| ruby.include?(tid) || !blocks?(tid) }
    self.control = { ready: 1, number: @number, expected: ready.size, leader: leader(report, ready),
                     arrived: 0, forked: 0, finished: 0, late: 0 }
    ready.each { |tid| syscall(TGKILL, @pid, tid, MOMENT) }
    Process.kill(:CONT, @pid)
    wait_until("the truth", 4 * TIMEOUT) { ended? || control[:finished] >= ready.size }
    ready.to_h { |tid| [tid, told(tid)] }
  end

  def blocks?(tid)
    status = File.read("/proc/#{@pid}/task/#{tid}/status")
    status[/^SigBlk:\s*(\h+)/, 1].hex[MOMENT - 1] == 1
  end

  # Who can ask for the others: it has the GVL.
  def leader(report, ready)
    threads = report ? report["threads"].to_a : []
    holder = threads.find { |thread| thread["gvl"] == "holder" && ready.include?(thread["tid"]) }
    holder ? holder["tid"] : @pid
  end

  # Returns nil if it is not a thread of Ruby's.
  def told(tid)
    plain = path("plain.#{@number}.#{tid}")
    return unless File.exist?(plain)
    records = path("truth.#{@number}.#{tid}")
    Told.new(File.binread(plain), File.exist?(records) ? File.binread(records) : "")
  ensure
    FileUtils.rm_f([plain, records].compact)
  end

  def control
    FIELDS.zip(File.binread(path("control")).unpack("L*")).to_h
  end

  # Does not truncate the file, because it is mapped.
  def control=(fields)
    File.open(path("control"), "r+b") { |file| file.write(fields.values_at(*FIELDS).pack("L*")) }
  end

  def wait_until(what, seconds = TIMEOUT)
    deadline = now + seconds
    until yield
      raise Failed, "no #{what} after #{seconds} seconds" if now > deadline
      sleep 0.002
    end
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  def finish
    return unless @spawned
    Child.signal(:KILL, -@spawned)
    Child.stop(@spawned) unless @ended
  end
end

# What one thread's copy said (truth.c).
class Told
  Stack = Struct.new(:kind, :object, :frames, :about)

  # stacks: of rb_make_backtrace() and Thread#backtrace, innermost first; nil frames: Ruby says there are none.
  # about: what the thread or fiber calls itself.
  # plain: of rb_backtrace(), innermost first; nil: it did not come to its end.
  # current: the Thread that is asked, and whose stack `plain` is. state: :whole, :collecting, :died.
  # signal: of which it died.
  attr_reader :stacks, :plain, :current, :state, :signal

  AT = /\A(.*?)(?::(-?\d+))?:in [`'](.*)'\z/m

  def initialize(plain, records)
    @plain = parse_plain(plain)
    @stacks = []
    @state = :died
    parse(records)
  end

  private

  def parse_plain(text)
    text = text.force_encoding("UTF-8").scrub
    return unless text.end_with?("end\n")
    text.delete_suffix("end\n").scan(/^\tfrom (.*):(-?\d+):in (?:[`'](.*)'|unknown method)$/).map do |path, line, label|
      [path, line.to_i, label]
    end.reverse
  end

  def parse(bytes)
    stack = nil
    while (head = bytes.match(/\G(\w+) (\d+)\n/n, @at || 0))
      length = head[2].to_i
      text = bytes.byteslice(head.end(0), length).force_encoding("UTF-8").scrub
      @at = head.end(0) + length + 1
      case head[1]
      when "thread", "fiber" then stack = Stack.new(head[1], text, [])
      when "at" then stack.frames << frame(text)
      when "whole" then @stacks << stack
      when "none" then @stacks << Stack.new(stack.kind, stack.object, nil)
      when "is" then @stacks.last.about = text
      when "current" then @current = text
      when "died" then @signal = text.to_i
      when "collecting" then @state = :collecting
      when "end" then @state = :whole
      end
    end
  end

  def frame(text)
    path, line, label = text.match(AT)&.captures
    path ? [path, line.to_i, label] : [text, 0, nil]
  end
end
