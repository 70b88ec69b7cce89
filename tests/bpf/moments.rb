# SPDX-License-Identifier: MIT
require_relative "record"

# Each sample of `rcore record --ebpf` has the context that the program noted
# for that time. It has none only if the thread may have had none.
module Moments
  # For each Ruby. The output has one sample for several in a row with the same stack and context.
  SAMPLES = (ENV["MARKS"] || 3000).to_i
  # The highest rate that rcore accepts; each recording takes this many seconds.
  RATE = 10_000
  SECONDS = (1..10).freeze
  A_SECOND = 3000 # the fewest samples to expect
  FEW = 100       # fewer do not show when time 0 of their recording was
  THREADS = 3
  # How far from a change, in nanoseconds, either context is right.
  CHANGE = 10_000
  WORKER = /worker-\d+/.freeze
  GROUP = /\Arequest_id=(t\d+f\d+-\d+)\z/.freeze

  def self.cases(workshops)
    workshops.map { |ruby, workshop| BpfCase.new("moments #{ruby.name}", limit: BpfCase::TIMEOUT + SAMPLES / 100) { Moments.compare(self, ruby, workshop) } }
  end

  def self.compare(test, ruby, workshop)
    seed = Random.new_seed % 2**31
    recordings = []
    truth = test.truth_of(ruby, workshop, "moments.rb", seed, THREADS) do |pid|
      missing = SAMPLES
      while missing.positive?
        samples = record(test, ruby, pid, (missing / A_SECOND).clamp(SECONDS))
        known = samples.count(&:value)
        next if known < FEW
        recordings << samples
        missing -= known
      end
    end
    ranges = recordings.map { |samples| check(test, "seed #{seed}", samples, truth) }
    known, unknown = recordings.flatten.partition(&:value)
    test.note = "#{known.size} samples of #{known.map(&:value).uniq.size} contexts, #{unknown.size} without one, times within #{ranges.max / 1000} us"
  end

  # Returns the range of nanoseconds in which time 0 of the recording may be; negative: no time fits all samples.
  def self.check(test, name, samples, truth)
    used = truth["used"]
    known, without = samples.partition(&:value)
    unknown = known.map(&:value).uniq - used.keys
    test.fail("#{name}: contexts that the program never had: #{unknown.first(3)}") if unknown.any?
    known = known.select { |sample| used.key?(sample.value) }
    offset, range = offset_of(known, used)
    test.fail("#{name}: no time fits all #{known.size} samples: they are #{-range} ns apart") if -range > 2 * CHANGE
    wrong = known.reject { |sample| used[sample.value].any? { |from, to| (sample.time + offset).between?(from - CHANGE, to + CHANGE) } }
    test.fail("#{name}: #{wrong.size} of #{known.size} samples have the context of another moment: #{wrong.first(3)}") if wrong.any?
    lost = without.select { |sample| held?(truth["held"][sample.thread], sample.time + offset) }
    test.fail("#{name}: #{lost.size} of #{samples.size} samples lack the context of their moment: #{lost.first(3)}") if lost.any?
    range
  end

  # Whether the time is within one of the periods, which are in order, and not near its ends.
  def self.held?(periods, time)
    period = periods&.bsearch { |_, to| to > time + CHANGE }
    period && period[0] < time - CHANGE
  end

  # The time in nanoseconds, the name of the thread in the program, the value of the context or nil.
  Sample = Struct.new(:time, :thread, :value)

  def self.record(test, ruby, pid, seconds)
    path = File.join(test.folder, "moments.rec")
    command = [*BpfCase::ROOT, Suite::RCORE, "record", "--ebpf=require", "-p", pid.to_s, "-r", RATE.to_s, "-d", seconds.to_s, "-o", path, *ruby.files]
    err, status = Open3.capture2e(*command)
    raise Debuggee::Failed, "no recording (#{status}): #{err}" unless status.success?
    read(path)
  end

  # A stack begins with the value by which samples are split.
  def self.read(path)
    output = "#{path}.firefox.json"
    _, err, status = Open3.capture3(*BpfCase::ROOT, Suite::RCORE, "report", path, "--by", "label:request_id", "-o", output)
    raise Debuggee::Failed, "no report: #{err}" unless status.success?
    profile = JSON.parse(File.read(output), max_nesting: false)
    shared = profile["shared"] || {}
    profile["threads"].flat_map { |thread| samples_of(thread, shared) }
  end

  def self.samples_of(thread, shared)
    names, functions, frames, stacks = ["stringArray", "funcTable", "frameTable", "stackTable"].map { |key| thread[key] || shared.fetch(key) }
    roots = []
    stacks["prefix"].each_with_index { |prefix, at| roots << (prefix ? roots[prefix] : at) }
    values = Hash.new { |known, root| known[root] = names[functions["name"][frames["func"][stacks["frame"][root]]]][GROUP, 1] }
    pairs = thread["samples"]["time"].zip(thread["samples"]["stack"]).select { |_, stack| stack }
    pairs.map { |time, stack| Sample.new((time * 1e6).round, thread["name"][WORKER], values[roots[stack]]) }
  end

  # The recording's time 0 is unknown. Each sample whose context was in use only once shows when time 0 was at the earliest and at
  # the latest. Returns the middle of the times that fit all of these samples, and their range; negative: no time fits all.
  def self.offset_of(samples, used)
    bounds = samples.select { |sample| used[sample.value].size == 1 }.map { |sample| used[sample.value].first.map { |bound| bound - sample.time } }
    least, most = bounds.map(&:first).max, bounds.map(&:last).min
    [(least + most) / 2, most - least]
  end
end
