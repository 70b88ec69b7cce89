# SPDX-License-Identifier: MIT
require_relative "../sampler/case"
require_relative "../sampler/ebpf"

# Checks what `rcore record --ebpf` reports for a server under load: each sample
# of a method that runs for one request has the context of that request. The
# number in the method's name is that of the request, modulo App::KINDS.
module Samples
  KINDS = 64 # as app.rb has it
  RATE = "1999"
  METHOD = /\AApp#busy_(\d+)\z/.freeze
  HELD = /already traced|not allowed to read process/.freeze
  # How many samples of the server are enough, and how many recordings may be made for them. On a busy machine,
  # a recording of a second may have only ten samples.
  ENOUGH = 300
  ATTEMPTS = 120

  # Yields differences. Returns how many samples of how many requests were compared.
  def self.compare(ruby, pid, folder, &difference)
    seen = Hash.new(0)
    ATTEMPTS.times do |attempt|
      path = File.join(folder, "#{attempt}.rec")
      command = [*Child::ROOT, RCORE, "record", Ebpf::REQUIRE, "-p", pid.to_s, "-d", "1", "-r", RATE, "--label", "request_id", "--label", "number"]
      err, status = Open3.capture2e(*command, *ruby.files, "-o", path)
      # Another rcore on this machine may be holding the process.
      next if !status.success? && err =~ HELD
      return yield(err) unless status.success?
      check(path, seen, &difference)
      break if seen.values.sum >= ENOUGH
    end
    yield("only #{seen.values.sum} samples of busy methods") if seen.values.sum < ENOUGH
    "#{seen.values.sum} samples of #{seen.size} requests"
  end

  def self.check(path, seen)
    err, status = Open3.capture2e(*Child::ROOT, RCORE, "report", path, "-o", "#{path}.json")
    return yield(err) unless status.success?
    recording = SamplerCase::Recording.new(JSON.parse(File.read("#{path}.json"), max_nesting: false))
    recording.totals.each do |total|
      kind = recording.stack(total).filter_map { |label| label[METHOD, 1] }.last or next
      labels = total["labels"].to_h
      number = labels["number"].to_i
      right = number.positive? && labels["request_id"] == "r#{number}" && number % KINDS == kind.to_i
      yield("a sample of App#busy_#{kind} has the context #{labels}") unless right
      seen[number] += total["samples"]
    end
  end
end
