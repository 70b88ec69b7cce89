# SPDX-License-Identifier: MIT
require "rbconfig"
require_relative "../support/child"
require_relative "peers_list"

# A program that reads lines. After "work SECONDS", it works for SECONDS of
# processor time, and prints how much it did in each second. Any other line
# switches a sampler on or off. In between it waits, so nothing is measured
# while an observer comes or goes.
WORK = <<~'RUBY'
  $stdout.sync = true
  def step(n) = n.zero? ? 0 : step(n - 1)
  def now = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)

  def work(seconds)
    begun = now
    done = 0
    until (spent = now - begun) >= seconds
      50.times { step(20) }
      done += 1
    end
    done / spent
  end

  $stdin.each_line do |line|
    case line.chomp
    when /\Awork (.+)/ then puts work($1.to_f)
    when "stackprof" then require "stackprof"; StackProf.start(mode: :wall, interval: 1000, raw: true)
    when "vernier" then require "vernier"; Vernier.start_profile(interval: 1000)
    when "stop stackprof" then StackProf.stop; StackProf.results
    when "stop vernier" then Vernier.stop_profile
    end
  end
RUBY

# The program that works, and that is observed now and then.
class Worker
  attr_reader :pid

  def initialize(command = [RbConfig.ruby], environment = Peers.environment)
    theirs, @words = IO.pipe
    @answers, output = IO.pipe
    @pid = Process.spawn(environment, *command, "-e", WORK, in: theirs, out: output, err: File::NULL)
    [theirs, output].each(&:close)
    work(0.5)
  end

  def say(line) = @words.puts(line)

  # Lets the program work for so many seconds on a processor. Returns the work
  # that it did in each second.
  def work(seconds)
    say("work #{seconds}")
    abort "bench: the program stopped working" unless IO.select([@answers], nil, nil, Child::LIMIT)
    Float(@answers.gets || abort("bench: the program has ended"))
  end

  def close = Child.stop(@pid)
end

# A sampler that runs inside the program.
class Inside
  def initialize(name) = @name = name

  # Returns a process that can load the sampler.
  def worker = Worker.new(Peers.ruby(@name), Peers.runs_here?(@name) ? Peers.environment : {})

  def begin(worker) = @worker = worker
  def on = @worker.say(@name)
  def off = @worker.say("stop #{@name}")
  def end; end
end

# `rcore record`, which is stopped while it does not observe. Its BPF program
# continues in the kernel even then; see Recorder.
class Stopped
  def initialize(folder, *options)
    @path = File.join(folder, "work.rec")
    @options = options
  end

  def begin(worker)
    FileUtils.rm_f(@path)
    @recorder = Process.spawn(RCORE, "record", "-p", worker.pid.to_s, *@options, "-o", @path, %i[out err] => File::NULL)
    wait_for_file
    off
  end

  def on = Child.signal(:CONT, @recorder)
  def off = Child.signal(:STOP, @recorder)

  def end
    on
    finish
  end

  private

  def wait_for_file
    limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + Child::LIMIT
    until File.exist?(@path)
      abort "bench: rcore does not record" if Process.wait(@recorder, Process::WNOHANG) || Process.clock_gettime(Process::CLOCK_MONOTONIC) > limit
      pause
    end
  end

  def pause = sleep(0.02)

  def finish
    Child.signal(:INT, @recorder)
    Child.wait(@recorder)
  end
end

# `rcore record`, which begins and ends each time.
class Recorder < Stopped
  def begin(worker) = @worker = worker

  def on
    FileUtils.rm_f(@path)
    @recorder = Process.spawn(RCORE, "record", "-p", @worker.pid.to_s, *@options, "-o", @path, %i[out err] => File::NULL)
    wait_for_file
  end

  def off = finish
  def end; end

  private

  # BPF takes no sample of a program that sleeps, and rcore writes no file before it has one.
  def pause = @worker.work(0.02)
end

# Nobody observes.
class Nobody
  def begin(_worker); end
  def on; end
  def off; end
  def end; end
end

# Compares how much work is done while one observer observes with how much is
# done while another does. Both take turns on one process, in phases of PHASE
# seconds on a processor. Their order is ABBA, so a machine that gets faster or
# slower favours neither. Every four phases give one ratio. The estimate is the
# mean of the ratios without the fifth at each end, because other programs
# disturb some phases. The interval is that of Yuen (1974).
class Comparison
  PHASE = 0.2
  SETTLE = 0.02 # after an observer has come or gone
  TRIM = 0.2
  LEAST = 20    # ratios
  WANTED = 0.005

  def initialize(by, base, worker)
    @by, @base, @worker = by, base, worker
    @ratios = []
  end

  # Measures until the interval is narrow enough, or until there are `most`
  # ratios. Returns [ratio, half of the 95 % interval, number of ratios].
  def measure(most)
    [@by, @base].each { |each| each.begin(@worker) }
    @ratios << ratio until @ratios.size >= most || (@ratios.size >= LEAST && error <= WANTED)
    [mean, error, @ratios.size]
  ensure
    [@by, @base].each(&:end)
  end

  private

  def ratio
    order = @ratios.size.even? ? [@by, @base, @base, @by] : [@base, @by, @by, @base]
    rates = { @by => 0, @base => 0 }
    order.slice_when { |one, other| one != other }.each do |phases|
      phases.first.on
      @worker.work(SETTLE)
      phases.each { |each| rates[each] += @worker.work(PHASE) }
      phases.first.off
    end
    rates[@by] / rates[@base]
  end

  def trimmed = (@ratios.size * TRIM).floor

  def mean
    kept = @ratios.sort[trimmed...(@ratios.size - trimmed)]
    kept.sum / kept.size
  end

  def error
    return Float::INFINITY if @ratios.size < 5
    sorted = @ratios.sort
    winsorized = sorted.map { |each| each.clamp(sorted[trimmed], sorted[-1 - trimmed]) }
    middle = winsorized.sum / winsorized.size
    variance = winsorized.sum { |each| (each - middle)**2 } / (winsorized.size - 1)
    quantile(@ratios.size - 2 * trimmed - 1) * Math.sqrt(variance / @ratios.size) / (1 - 2 * TRIM)
  end

  # Student's t for 95 %, approximately.
  def quantile(freedom) = 1.96 + 2.4 / freedom + 2.8 / freedom**2
end

# Prints how much work is done in each second on a processor while `by`
# observes, as a share of the work while `base` does (nil: nobody observes).
def compare_work(what, by, base, most, worker = Worker.new)
  mean, error, count = Comparison.new(by, base || Nobody.new, worker).measure(most)
  puts format("%s: %.4f +- %.4f (95 %%, %d x ABBA)", what, mean, error, count)
ensure
  worker&.close
end
