# SPDX-License-Identifier: MIT
require "rbconfig"
require_relative "../support/child"
require_relative "peers_list"

# Prints how much it has done, and in how much processor time, every 50 ms of that. A word on its input switches a sampler
# on or off.
WORK = <<~'RUBY'
  $stdout.sync = true
  def step(n) = n.zero? ? 0 : step(n - 1)
  def switch(word)
    case word
    when "stackprof" then require "stackprof"; StackProf.start(mode: :wall, interval: 1000, raw: true)
    when "stop" then StackProf.stop
    end
  end
  done = 0
  last = 0.0
  loop do
    500.times { step(20) }
    done += 1
    now = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
    next if now - last < 0.05
    last = now
    puts "#{done} #{now}"
    switch($stdin.gets.chomp) if IO.select([$stdin], nil, nil, 0)
  end
RUBY

# A program that works, and is observed now and then.
class Worker
  def initialize
    @lines = []
    ours, theirs = IO.pipe
    input, @words = IO.pipe
    @pid = Process.spawn(Peers.environment, RbConfig.ruby, "-e", WORK, in: input, out: theirs, err: File::NULL)
    [theirs, input].each(&:close)
    @reader = Thread.new { ours.each_line { |line| @lines << line.split.map(&:to_f) } }
  end

  # Work for each second on a processor, while the block waits.
  def rate
    first = @lines.size
    yield
    lines = @lines[first..]
    (lines.last[0] - lines.first[0]) / (lines.last[1] - lines.first[1])
  end

  # As long as that on a processor.
  def wait(seconds)
    until_time = @lines.last[1] + seconds
    limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + Child::LIMIT
    until @lines.last[1] >= until_time
      abort "bench: the program stopped working" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > limit
      sleep 0.02
    end
  end

  def ready
    sleep 0.02 until @lines.any?
  end

  # `by` is nil, a word for the program, or starts to observe a process, and stops.
  def observe(by)
    return yield if by.nil?
    by.is_a?(String) ? @words.puts(by) : by.start(@pid)
    wait(0.2)
    yield
  ensure
    by.is_a?(String) ? @words.puts("stop") : by.stop if by
  end

  def close
    Child.stop(@pid)
    @reader.join
  end
end

# Lets `rcore record` observe a process.
class Recorder
  def initialize(folder, *options)
    @path = File.join(folder, "work.rec")
    @options = options
  end

  def start(pid)
    File.delete(@path) if File.exist?(@path)
    @recorder = Process.spawn(RCORE, "record", "-p", pid.to_s, *@options, "-o", @path, %i[out err] => File::NULL)
    sleep 0.02 until File.exist?(@path)
  end

  def stop
    Child.signal(:INT, @recorder)
    Child.wait(@recorder)
  end
end

# Student's t for 95 %.
def quantile(freedom) = freedom < 1 ? Float::INFINITY : 1.96 + 2.4 / freedom + 2.8 / freedom**2

# AB BA AB ... until the interval of 95 % is narrow enough. Prints how much of the work that was done while `base` observed (nil: nobody)
# is done while `by` does, for each second on a processor.
def compare_work(what, by, base, pairs)
  worker = Worker.new
  worker.ready
  ratios = []
  error = Float::INFINITY
  while ratios.size < 4 || (error > 0.01 && ratios.size < pairs)
    order = ratios.size.even? ? [base, by] : [by, base]
    rates = order.to_h { |each| [each, worker.observe(each) { worker.rate { worker.wait(1.0) } }] }
    ratios << rates[by] / rates[base]
    mean = ratios.sum / ratios.size
    error = quantile(ratios.size - 1) * Math.sqrt(ratios.sum { |ratio| (ratio - mean)**2 } / [ratios.size - 1, 1].max / ratios.size)
  end
  puts format("%s: %.3f +- %.3f (95 %%, %d pairs)", what, mean, error, ratios.size)
ensure
  worker&.close
end
