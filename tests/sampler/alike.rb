# SPDX-License-Identifier: MIT

# Labels of threads and fibers that wait in the same frames as before, for another request: nothing but the labels shows that.
module Alike
  SECONDS = 3
  # Of the requests that were served, or of the samples if there are fewer, this share must have been seen: on a busy machine,
  # many samples in a row may be of one request.
  SEEN = 0.5
  # The share of samples whose labels may be of two requests: rcore reads the path some 0.1 milliseconds after the context, and a
  # request takes 3.
  LATE = 0.1
  LOOKS = 5

  def self.cases(rubies)
    rubies.product(%w[thread fiber replaced assigned]).map { |ruby, kind| SamplerCase.new("alike #{ruby.name} #{kind}") { Alike.alike(self, ruby, kind) } }
  end

  def self.alike(test, ruby, kind)
    test.with_program(ruby, "alike.rb", kind) do |pid, counter|
      begun = counter.value
      recording = test.record(ruby, pid, "-d", SECONDS, "--label", "path", "--label", "turn")
      served = counter.value - begun
      labels = recording.totals.flat_map { |total| [total["labels"].to_h] * total["samples"] }.reject(&:empty?)
      test.note = %w[path turn].map { |key| compare(test, labels, key, served) }.compact.join(", ")
      has_contexts = labels.any? { |each| each["turn"] }
      test.fail("no contexts") if !has_contexts && !ENV["RCORE_RUBY"] && ruby.version >= Gem::Version.new("3.2")
      mixed = labels.count { |each| each.size == 2 && each["path"] != each["turn"] }
      test.fail("#{mixed} of #{labels.size} samples have labels of two requests") if mixed > 1 + LATE * labels.size
      look(test, ruby, pid) if kind == "replaced"
    end
  end

  # Fibers that die while rcore looks do not keep it from finding the contexts of others.
  def self.look(test, ruby, pid)
    LOOKS.times do
      out, = test.rcore("state", "-p", pid, *ruby.files)
      test.fail("contexts were not found:\n#{out}") if out.include?("was not found")
    end
  end

  def self.compare(test, labels, key, served)
    texts = labels.map { |each| each[key] }.compact
    return if texts.empty? && key == "turn"
    test.fail("no #{key}") if texts.empty?
    test.fail("#{texts.size} samples of #{served} requests have #{texts.uniq.size} values of #{key}") if texts.uniq.size < SEEN * [served, texts.size].min
    "#{texts.uniq.size} values of #{key} in #{texts.size} samples"
  end
end
