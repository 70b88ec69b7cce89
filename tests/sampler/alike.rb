# SPDX-License-Identifier: MIT

# Labels of threads and fibers that wait in the same frames as before, but for another request: only the labels show that.
module Alike
  SECONDS = 3
  # The share of the expected() requests that must have been seen. It is not 1,
  # because ticks do not come at random moments.
  SEEN = 0.5
  # The share of samples whose labels may be of two requests: rcore cannot tell
  # a Hash from an older one at the same address.
  MIXED = 0.02
  LOOKS = 5
  # On a busy machine, rcore may miss fibers that live for 20 milliseconds, or lose each one while it searches for the table of contexts.
  RECORDINGS = 5

  Request = Struct.new(:begun, :ended) do
    def seconds
      ended - begun
    end
  end

  def self.cases(rubies)
    rubies.product(%w[thread fiber replaced assigned]).map { |ruby, kind| SamplerCase.new("alike #{ruby.name} #{kind}") { Alike.alike(self, ruby, kind) } }
  end

  def self.alike(test, ruby, kind)
    test.with_program(ruby, "alike.rb", kind) do |pid, _, folder|
      has_gem = !ENV["RCORE_RUBY"] && ruby.version >= Gem::Version.new("3.2")
      labels, requests = record(test, ruby, pid, folder, has_gem ? "turn" : "path")
      test.note = %w[path turn].map { |key| compare(test, labels, key, requests) }.compact.join(", ")
      test.fail("no contexts") if has_gem && labels.none? { |each| each["turn"] }
      mixed = labels.count { |each| each.size == 2 && each["path"] != each["turn"] }
      test.fail("#{mixed} of #{labels.size} samples have labels of two requests") if mixed > 1 + MIXED * labels.size
      look(test, ruby, pid) if kind == "replaced"
    end
  end

  # The labels of each sample that has any, and the requests of that time.
  def self.record(test, ruby, pid, folder, key)
    RECORDINGS.times do
      begun = Time.now.to_f
      recording = test.record(ruby, pid, "-d", SECONDS, "--label", "path", "--label", "turn")
      labels = recording.totals.flat_map { |total| [total["labels"].to_h] * total["samples"] }.reject(&:empty?)
      requests = File.binread(File.join(folder, "served")).unpack("E*").each_slice(2).map { |times| Request.new(*times) }
      return [labels, requests.select { |request| request.ended && request.ended > begun }] if labels.any? { |each| each[key] }
    end
    [[], []]
  end

  # Fibers that die while rcore looks do not keep it from finding the contexts of others.
  def self.look(test, ruby, pid)
    LOOKS.times do
      out, = test.rcore("state", "-p", pid, *ruby.files)
      test.fail("contexts were not found:\n#{out}") if out.include?("was not found")
    end
  end

  def self.compare(test, labels, key, requests)
    texts = labels.map { |each| each[key] }.compact
    return if texts.empty? && key == "turn"
    test.fail("no #{key}") if texts.empty?
    wanted = expected(requests, texts.size)
    test.fail(format("%d samples have %d values of %s: %.0f are expected", texts.size, texts.uniq.size, key, wanted)) if texts.uniq.size < SEEN * wanted
    format("%d values of %s in %d samples; %.0f are expected", texts.uniq.size, key, texts.size, wanted)
  end

  # How many requests so many samples would see at random moments. On a busy
  # machine, a few requests last for most of the time.
  def self.expected(requests, samples)
    all = requests.sum(&:seconds)
    requests.sum { |request| 1 - (1 - request.seconds / all)**samples }
  end
end
