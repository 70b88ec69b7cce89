# SPDX-License-Identifier: MIT
require_relative "record"

# Each sample of `rcore record --ebpf` has the context that the program noted for that time.
module Moments
  # For each Ruby. The output has one sample for several in a row with the same stack and context.
  SAMPLES = (ENV["MARKS"] || 3000).to_i
  # The highest rate that rcore accepts; each recording takes so many seconds.
  RATE = 10_000
  SECONDS = (1..10).freeze
  A_SECOND = 3000 # the fewest samples to expect
  FEW = 100       # too few to find the time 0 of their recording
  THREADS = 3
  # How far from a change, in nanoseconds, either context is right.
  CHANGE = 10_000
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
        next if samples.size < FEW
        recordings << samples
        missing -= samples.size
      end
    end
    ranges = recordings.map { |samples| check(test, "seed #{seed}", samples, truth) }
    contexts = recordings.flat_map { |samples| samples.map(&:last) }.uniq.size
    test.note = "#{recordings.sum(&:size)} samples of #{contexts} contexts, times within #{ranges.max / 1000} us"
  end

  # Returns the range of nanoseconds in which time 0 of the recording may be; negative: no time fits all samples.
  def self.check(test, name, samples, truth)
    unknown = samples.map(&:last).uniq - truth.keys
    test.fail("#{name}: contexts that the program never had: #{unknown.first(3)}") if unknown.any?
    samples = samples.select { |_, value| truth.key?(value) }
    offset, range = offset_of(samples, truth)
    test.fail("#{name}: no time fits all #{samples.size} samples: they are #{-range} ns apart") if -range > 2 * CHANGE
    wrong = samples.reject { |time, value| truth[value].any? { |from, to| (time + offset).between?(from - CHANGE, to + CHANGE) } }
    test.fail("#{name}: #{wrong.size} of #{samples.size} samples have the context of another moment: #{wrong.first(3)}") if wrong.any?
    range
  end

  # [time, value of the context] of each sample that has one.
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
    pairs.map { |time, stack| [(time * 1e6).round, values[roots[stack]]] }.select(&:last)
  end

  # The recording's time 0 is unknown. Each sample whose context was in use only once shows when it was at the earliest, and at the
  # latest. Returns the middle of the times that fit all of these samples, and their range; negative: no time fits all.
  def self.offset_of(samples, truth)
    bounds = samples.select { |_, value| truth[value].size == 1 }.map { |time, value| truth[value].first.map { |bound| bound - time } }
    least, most = bounds.map(&:first).max, bounds.map(&:last).min
    [(least + most) / 2, most - least]
  end
end
