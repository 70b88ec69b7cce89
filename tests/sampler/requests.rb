# SPDX-License-Identifier: MIT

# Compares the labels of what threads and fibers work on with the methods that run for that work.
module Requests
  # The share of samples that may have the label of the next request: labels are read just after the stack.
  LATE = 0.02
  # A busy machine may take few samples in a second.
  ATTEMPTS = 3..30
  # The share of samples whose method returns before its label is read; on a busy machine, that may be many. A method that
  # changes a variable must not lose more.
  LOST = 0.25
  PART = /\A(?:Layer#((?:part|parked)_\d)|Counter_(\d)#call)\z/.freeze
  PARTS = %w[part parked count].product([0, 1, 2, 3]).map { |words| "/#{words.join("_")}" }.sort.freeze

  def self.cases(rubies)
    rubies.map do |ruby|
      SamplerCase.new("requests #{ruby.name}") do
        Requests.requests(self, ruby, PARTS, "-r", 199) do |pid, counts|
          Requests.complete(self, counts)
          Requests.options(self, ruby, pid) if ruby.name == "3.1"
        end
      end
    end
  end

  # `parts` are the paths of requests that have samples.
  def self.requests(test, ruby, parts, *options)
    test.with_program(ruby, "requests.rb") do |pid,|
      counts = Hash.new(0)
      paths = []
      ATTEMPTS.max.times do |number|
        compare(test, test.record(ruby, pid, "-d", 1, "--label", "path", "--label", "request_id", *options), counts, paths)
        break if paths.size == parts.size && number + 1 >= ATTEMPTS.min
      end
      test.note = counts.map { |what, count| "#{count} #{what}" }.join(", ")
      test.same("paths", parts, paths.sort)
      test.fail("#{counts[:wrong]} labels of other requests") if counts.values_at(:wrong, :wrong_counting).sum > 1 + LATE * counts.values.sum
      yield pid, counts if block_given?
    end
  end

  # After the samples of the BPF program, rcore may have to wait for a processor.
  def self.complete(test, counts)
    [%i[right none], %i[right_counting none_counting]].each do |right, none|
      test.fail("#{counts[none]} samples have no label, #{counts[right]} have one") if counts[none] > LOST * counts.values_at(right, none).sum
    end
  end

  def self.options(test, ruby, pid)
    plain = test.record(ruby, pid, "-d", 1)
    test.same("labels that nobody asked for", [], plain.totals.flat_map { |total| total["labels"].to_a })
    redacted = test.record(ruby, pid, "-d", 1, "--label", "path", "--redact", "strings")
    test.same("redacted labels", %w[path], redacted.totals.flat_map { |total| total["labels"].to_h.keys }.uniq)
    test.fail("a path with --redact") if redacted.totals.any? { |total| total.dig("labels", "path").to_s.match?(/part|parked|count/) }
    split(test, ruby, pid)
    _, err, = test.rcore("record", "-p", pid, "-d", 1, "--by", "label:nobody")
    test.fail("the advice to record what was recorded: #{err}") unless err =~ /no sample has the label 'nobody'$/
  end

  def self.compare(test, recording, counts, paths)
    served, others = recording.totals.partition { |total| part_of(recording, total) }
    seen = served.group_by { |total| total.dig("labels", "path") == part_of(recording, total) ? :right : total["labels"] ? :wrong : :none }
    seen.each do |what, totals|
      totals.each { |total| counts[counts?(recording, total) ? :"#{what}_counting" : what] += total["samples"] }
    end
    paths.replace(paths | seen[:right].to_a.map { |total| total.dig("labels", "path") })
    mixed = seen[:right].to_a.reject { |total| total.dig("labels", "request_id").start_with?(server_of(recording, total)) }
    test.fail("request of another thread: #{mixed.first}") if mixed.any?
    strange = others.reject { |total| recording.stack(total).include?("Layer#call") }.select { |total| total["labels"] }
    test.fail("labels without a request: #{strange.first}") if strange.any?
  end

  # Returns the path of the request to which the stack belongs.
  def self.part_of(recording, total)
    part = recording.stack(total).grep(PART).last
    part && "/#{part[PART, 1] || "count_#{part[PART, 2]}"}"
  end

  # While the thread waits, its variables stay.
  def self.counts?(recording, total)
    total["state"] == "running" && part_of(recording, total).start_with?("/count")
  end

  def self.server_of(recording, total)
    part_of(recording, total).include?("parked") ? "parked-" : "#{recording.thread(total)["name"]}-"
  end

  def self.split(test, ruby, pid)
    path = File.join(test.folder, "by.folded")
    _, err, status = test.rcore("record", "-p", pid, "-d", 1, "--by", "label:path", "--where", "request_id=parked-1", "-o", path, *ruby.files)
    test.fail("#{status}: #{err}") unless status.zero?
    lines = File.readlines(path)
    test.fail("--by, --where: #{lines}") unless lines.size == 1 && lines.first =~ %r{\Apath=/parked_1;.*;Layer#parked_1;Fiber.yield \d+$}
  end
end
