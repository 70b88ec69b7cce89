# SPDX-License-Identifier: MIT
require_relative "../sampler/case"

# `rcore record --ebpf`: each sample has the context of the moment in which it was taken.
module Record
  WORK = /\A(?:Object#)?work_(\d+)\z/.freeze
  # Between a switch of fibers and the gem's hook, the context is that of the other one.
  SWITCHES = /\AFiber[.#]/.freeze
  SECONDS = 2
  RATE = 1999

  def self.cases(workshops)
    workshops.map { |ruby, workshop| BpfCase.new("record contexts #{ruby.name}") { Record.contexts(self, ruby, workshop) } }
  end

  def self.contexts(test, ruby, workshop)
    seed = Random.new_seed % 2**31
    recording = nil
    truth = test.truth_of(ruby, workshop, "switches.rb", seed, 3) do |pid, _|
      recording = record(test, pid, "-d", SECONDS, "-r", RATE, *ruby.files)
    end
    seen = Hash.new(0)
    recording.totals.each do |total|
      stack = recording.stack(total)
      at = stack.rindex { |label| label =~ WORK } or next
      next if stack[at + 1..-1].any? { |label| label =~ SWITCHES }
      number = Integer(stack[at][WORK, 1])
      wanted = { "tenant" => "t#{number}", "request_id" => truth[number] }
      found = total["labels"]
      test.fail("seed #{seed}: #{stack.last(3)} has the context #{found}, not #{wanted}") unless found == wanted
      seen[number] += total["samples"]
    end
    test.fail("seed #{seed}: no samples of the methods") if seen.empty?
    test.note = "#{seen.values.sum} samples of #{seen.size} contexts"
  end

  def self.record(test, pid, *options)
    path = File.join(test.folder, "#{rand(1 << 60)}.rec")
    _, err, status = Open3.capture3(*BpfCase::ROOT, Suite::RCORE, "record", "--ebpf=require", "-p", pid.to_s, "-o", path, *options.map(&:to_s))
    raise Debuggee::Failed, "no recording (#{status}): #{err}" unless status.success? && File.exist?(path)
    read(path)
  end

  def self.read(path)
    json = "#{path}.json"
    _, err, = Open3.capture3(*BpfCase::ROOT, Suite::RCORE, "report", path, "-o", json)
    raise Debuggee::Failed, "no report: #{err}" unless File.exist?(json)
    SamplerCase::Recording.new(JSON.parse(File.read(json), max_nesting: false))
  end
end
