# SPDX-License-Identifier: MIT

# No stack has a caller and a callee that never call each other. With one copy
# of each stack instead of two, some have.
module Pairs
  # For each of five builds.
  SAMPLES = Integer(ENV["SAMPLES"] || 20_000)
  ENTRIES = /\AGraph#m[037]\z/.freeze
  # The edges have their callers.
  CALLED = /\A(?:block in )?(?:Graph|Integer|Comparable)#/.freeze
  UNREAD = "(a frame that could not be read)"
  # Of a recording, and of one of many.
  SECONDS = 5
  SHORT = 1
  # A busy machine takes some hundred samples in a second.
  LIMIT = 4 * SamplerCase::TIMEOUT + SAMPLES / 200
  # vm_push_frame() of 2.7 counts a frame before it fills it. If a method in C calls another one, nothing distinguishes
  # that from one which it called before, in the moment when its thread lost the processor. This was seen once in
  # 10^6 samples; as the program stands still meanwhile, all samples until it runs again show it: on a busy machine 200
  # of 124,000. Such a moment is rare: in 10^6 samples on a busy machine, one pair was seen in 9 samples of two recordings or more.
  FROM_C = /\A(?:Integer|Comparable)#/.freeze
  TOLERATED_FROM_C = 0.01
  # And this many for each million samples.
  TOLERATED_MOMENTS = 6
  # The methods take less time than a system call, so most of such samples lack inner frames on some machines: 97 % on an idle one.
  MOST_PARTIAL = 0.99
  # Such a moment is in one recording. With this many, a mistake that repeats is in more recordings than are tolerated.
  LEAST_RECORDINGS = 10

  def self.cases(rubies)
    rubies.flat_map { |ruby| [[ruby, []], *([[ruby, ["--yjit"]]] if ruby.version.segments.first(2) == [3, 1])] }.flat_map do |ruby, options|
      name = [ruby.name, *options].join(" ")
      [SamplerCase.new("pairs #{name}", limit: LIMIT) { Pairs.sound(self, ruby, options) }, *([SamplerCase.new("pairs single #{name}") { Pairs.single(self, ruby, options) }, blocks(ruby)] if options.empty?)]
    end
  end

  # Takes fewer samples than the program without blocks: the methods take longer, so most samples have all frames.
  def self.blocks(ruby)
    SamplerCase.new("pairs blocks #{ruby.name}", limit: LIMIT) { Pairs.sound(self, ruby, [], SAMPLES / 4, more: ["blocks"]) }
  end

  def self.old?(ruby) = ruby.version < Gem::Version.new("3.0")

  # Records until the block returns true. Returns [samples, partial samples, samples with an unreadable frame, samples of each
  # impossible pair, recordings of each impossible pair].
  def self.count(test, ruby, options, more = [])
    seed = Integer(ENV["SEED"] || rand(1 << 30))
    seconds = old?(ruby) ? SHORT : SECONDS
    test.with_program(ruby, "graph.rb", seed, *more, options: options) do |pid, counter, folder|
      edges = File.readlines(File.join(folder, "edges"), chomp: true).to_h { |line| [line, true] }
      samples = partial = unread = 0
      impossible = Hash.new(0)
      recordings = Hash.new { |all, pair| all[pair] = [] }
      (1..).each do |number|
        recording = test.record(ruby, pid, "-d", seconds, "-r", 10_000)
        recording.totals.each do |total|
          next unless total["state"] == "running"
          stack = recording.stack(total)
          samples += total["samples"]
          partial += total["samples"] if stack.last =~ SamplerCase::NOTE
          stack.each_cons(2) do |caller, callee|
            next unless callee =~ CALLED
            next unread += total["samples"] if caller == UNREAD
            possible = caller =~ CALLED ? edges["#{caller} #{callee}"] : callee !~ /\AGraph#/ || (callee =~ ENTRIES && caller !~ SamplerCase::NOTE)
            next if possible
            impossible["#{caller} -> #{callee}"] += total["samples"]
            recordings["#{caller} -> #{callee}"] |= [number]
          end
        end
        test.goes_on(counter)
        break if yield(samples, impossible, number)
      end
      test.note = "#{samples} samples, #{partial} with outer frames only, #{unread} with a frame that could not be read, " \
                  "#{impossible.values.sum} impossible; seed #{seed}"
      [samples, partial, unread, impossible, recordings.transform_values(&:size)]
    end
  end

  # Returns [samples, partial samples].
  def self.sound(test, ruby, options, wanted = SAMPLES, share: TOLERATED_FROM_C, more: [])
    samples, partial, unread, impossible, recordings = count(test, ruby, options, more) { |taken, _, number| taken >= wanted && (!old?(ruby) || number >= LEAST_RECORDINGS) }
    from_c, others = impossible.partition { |pair, _| pair =~ FROM_C }.map(&:to_h)
    moments = from_c.keys.sum { |pair| recordings[pair] }
    rare = moments <= TOLERATED_MOMENTS * (1 + samples.fdiv(1_000_000))
    allowed = old?(ruby) && rare ? [TOLERATED_MOMENTS, samples * share].max : 0
    test.fail("impossible: #{others.first(5).to_h}") if others.any?
    test.fail("impossible, in #{moments} recordings: #{from_c.first(5).to_h}") if from_c.values.sum > allowed
    test.fail("#{unread} of #{samples} samples could not be read") if unread * 100 > samples
    test.fail("#{partial} of #{samples} have outer frames only") if partial > samples * MOST_PARTIAL
    [samples, partial]
  end

  def self.single(test, ruby, options)
    test.environment["RCORE_TEST_SINGLE_READ"] = "1"
    samples, _, _, impossible = count(test, ruby, options) { |taken, found| found.any? || taken >= 5 * SAMPLES }
    test.fail("no impossible pair in #{samples} samples of one copy each") if impossible.empty?
  end
end
