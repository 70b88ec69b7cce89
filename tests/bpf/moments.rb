# SPDX-License-Identifier: MIT
require_relative "record"

# Each sample of `rcore record --ebpf` has the context that was in use at its time, as the program noted it.
module Moments
  SAMPLES = (ENV["SAMPLES"] || 3000).to_i
  RATE = 4999
  THREADS = 3
  # Around a change, in nanoseconds.
  CHANGE = 10_000
  GROUP = /\Arequest_id=(t\d+f\d+-\d+)\z/.freeze

  def self.cases(workshops)
    workshops.map { |ruby, workshop| BpfCase.new("moments #{ruby.name}") { Moments.compare(self, ruby, workshop) } }
  end

  def self.compare(test, ruby, workshop)
    seed = Random.new_seed % 2**31
    samples = nil
    truth = test.truth_of(ruby, workshop, "moments.rb", seed, THREADS) do |pid|
      samples = record(test, ruby, pid)
    end
    test.fail("seed #{seed}: contexts that never were: #{(samples.map(&:last) - truth.keys).first(3)}") unless samples.all? { |_, value| truth.key?(value) }
    offset, range = offset_of(samples, truth)
    test.fail("seed #{seed}: no time fits all samples: #{range}") if range > 2 * CHANGE
    wrong = samples.reject { |time, value| truth[value].any? { |from, to| (time + offset).between?(from - CHANGE, to + CHANGE) } }
    test.fail("seed #{seed}: #{wrong.size} of #{samples.size} samples have the context of another moment: #{wrong.first(3)}") if wrong.any?
    test.fail("seed #{seed}: #{samples.size} samples") if samples.size < SAMPLES
    test.note = "#{samples.size} samples of #{samples.map(&:last).uniq.size} contexts, times within #{-range / 1000} us"
  end

  # [time, value of the context] of at least SAMPLES. The output has one for several in a row with the same stack and context.
  def self.record(test, ruby, pid)
    path = File.join(test.folder, "moments.rec")
    log = "#{path}.log"
    recorder = Process.spawn(*BpfCase::ROOT, Suite::RCORE, "record", "--ebpf=require", "-p", pid.to_s, "-r", RATE.to_s, "-o", path, *ruby.files, %i[out err] => log, pgroup: true)
    sleep SAMPLES.fdiv(RATE)
    test.wait_until("samples: #{File.read(log)}") { Process.wait(recorder, Process::WNOHANG) || (sleep(1) && File.exist?(path) && count(path) >= SAMPLES * 3 / 2) }
    Child.signal(:INT, -recorder)
    test.same("status of rcore: #{File.read(log)}", true, Child.wait(recorder).success?)
    recorder = nil
    read(path)
  ensure
    Child.stop(recorder, -recorder) if recorder
  end

  def self.count(path)
    Record.read(path).sum("samples") { |total| total.dig("labels", "request_id") }
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

  # The recording's time 0 is unknown. Each sample of a context that was in use once says when it was at the earliest, and at the
  # latest. Returns the middle of what fits all of them, and how far the bounds are apart; positive: nothing fits.
  def self.offset_of(samples, truth)
    bounds = samples.select { |_, value| truth[value].size == 1 }.map { |time, value| truth[value].first.map { |bound| bound - time } }
    least, most = bounds.map(&:first).max, bounds.map(&:last).min
    [(least + most) / 2, least - most]
  end
end
