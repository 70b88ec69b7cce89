# SPDX-License-Identifier: MIT
require "cgi"
require "json"
require "open3"

# Reads outputs of `rcore report`, and returns how they differ from the sums of
# what was recorded; nil: they do not. Each reader of ALL is called with the
# path of an output, the Sums that it must have, and the measure (:wall, :cpu).
module Readers
  # stacks: {[labels, outermost first] => nanoseconds}
  Sums = Struct.new(:stacks, :whole) do
    # A sample without frames counts for "(no frames)" here, and for nothing in
    # `totals`.
    def selves = count { |stack| [stack.last || "(no frames)"] }

    def totals = count { |stack| stack.uniq }

    private

    def count
      stacks.each_with_object(Hash.new(0)) { |(stack, value), sums| yield(stack).each { |label| sums[label] += value } }
    end
  end

  module_function

  def differ(found, wanted, tolerance = 0)
    key = (found.keys | wanted.keys).find { |each| (found.fetch(each, 0) - wanted.fetch(each, 0)).abs > tolerance }
    key && "#{key.inspect[0, 200]} has #{found.fetch(key, 0)}, not #{wanted.fetch(key, 0)}"
  end

  def unfold(stack)
    stack == "(no frames)" ? [] : stack.split(";", -1).map { |label| label.gsub("\\x3B", ";") }
  end

  def folded(path, wanted, _)
    lines = File.readlines(path, chomp: true).map { |line| line.match(/\A(.*) (\d+)\z/).captures }
    return "a stack is there twice" if lines.uniq(&:first).size != lines.size
    differ(lines.to_h { |stack, value| [unfold(stack), value.to_i] }, wanted.stacks)
  end

  # Of one group or none: its table is in seconds.
  def text(path, wanted, _)
    rows = File.readlines(path, chomp: true).map { |line| line.match(/\A +(\d+\.\d+) +[\d.]+% +(\d+\.\d+) +[\d.]+% +[\d.]+%  (.*?)(?:  \[C\])?(?:  [^ ]+\.rb:\d+)?\z/)&.captures }.compact
    sums = rows.each_with_object(Hash.new(0)) { |(own, _, label), found| found[label] += own.to_f }
    plain = wanted.stacks.each_with_object(Hash.new(0)) { |(stack, value), found| found[stack.last || "(no frames)"] += value / 1e9 }
    groups = File.read(path).scan(/^\S.*  [\d.]+ s \([\d.]+%\)$/).size
    return differ(sums, plain, 0.0006) if groups.zero?
    (sums.values.sum - wanted.whole / 1e9).abs < 0.001 * sums.size + 0.001 * rows.size ? nil : "#{sums.values.sum} s of #{wanted.whole / 1e9} s"
  end

  def json(path, wanted, measure)
    report = JSON.parse(File.read(path))
    functions, nodes = report.values_at("functions", "nodes")
    found = Hash.new(0)
    report["totals"].each do |total|
      stack, node = [], total["node"]
      while node.positive?
        stack.unshift(functions[nodes[node]["function"]]["label"])
        node = nodes[node]["parent"]
      end
      found[stack] += total[measure.to_s]
    end
    found.delete_if { |_, value| value.zero? }
    return "sums: #{report["sums"]}" unless report["sums"][measure.to_s] == wanted.whole
    differ(found, wanted.stacks) || schema(path, "../../docs/rcore-profile-1.schema.json")
  end

  # [name of each location, [[measure => value, locations from the outermost] ...]]
  def raw_pprof(path)
    out, errors, status = Open3.capture3("go", "tool", "pprof", "-raw", path)
    return [nil, errors] unless status.success?
    locations = out[/^Locations\n(.*?)^Mappings/m, 1].lines.to_h do |line|
      number, name = line.match(/\A +(\d+): 0x\h+ (?:M=\d+ )?(.*) \S*:\d+ s=\d+/).captures
      [number.to_i, name]
    end
    samples = out[/^Samples:\n.*?\n(.*)^Locations/m, 1].scan(/^ +(-?\d+) +(-?\d+) +(-?\d+): ([\d ]+)$/).map do |_, cpu, wall, numbers|
      [{ cpu: cpu.to_i, wall: wall.to_i }, numbers.split.map { |number| locations.fetch(number.to_i) }.reverse]
    end
    [samples, nil]
  end

  def pprof(path, wanted, measure)
    samples, problem = raw_pprof(path)
    return problem if problem
    found = samples.each_with_object(Hash.new(0)) { |(values, stack), sums| sums[stack == ["(no frames)"] ? [] : stack] += values[measure] }
    differ(found, wanted.stacks) || pprof_top(path, wanted, measure)
  end

  # pprof shortens names that look like those of other languages.
  def pprof_top(path, wanted, measure)
    out, = Open3.capture2("go", "tool", "pprof", "-top", "-unit=nanoseconds", "-nodefraction=0", "-nodecount=100000", "-sample_index=#{measure}", path, err: "/dev/null")
    # It prints a cost of nothing without a unit.
    rows = out.scan(/^ *(\d+)(?:ns)? +[\d.]+% +[\d.]+% +(\d+)(?:ns)? +[\d.]+%  (.*)$/)
    plain = wanted.totals.keys.grep(/\AClass\d#method\d+\z/)
    totals, selves = wanted.totals, wanted.selves
    plain.each do |label|
      own, all = rows.find { |row| row[2] == label }&.first(2)&.map(&:to_i)
      return "-top has #{own} and #{all} of #{label}, not #{selves[label]} and #{totals[label]}" unless [own, all] == [selves[label], totals[label]]
    end
    nil
  end

  # Of each label: own cost, and with what it called.
  def callgrind(path, wanted, _)
    %w[no yes].each do |inclusive|
      out, errors, status = Open3.capture3("callgrind_annotate", "--auto=no", "--threshold=100", "--inclusive=#{inclusive}", path)
      return errors unless status.success? && errors.empty?
      found = Hash.new(0)
      out.scan(/^ *([\d,]+) \([ \d.]+%\)  [^ ]*?:(.*)$/) { |cost, label| found[label.strip] += cost.delete(",").to_i }
      expected = Hash.new(0)
      (inclusive == "yes" ? wanted.totals : wanted.selves).each { |label, value| expected[label.strip] += value }
      expected.delete("(no frames)")
      found.delete("(root)")
      found.delete_if { |_, value| value.zero? }
      problem = differ(found, expected.select { |_, value| value.positive? })
      return "--inclusive=#{inclusive}: #{problem}" if problem
    end
    nil
  end

  def speedscope(path, wanted, _)
    report = JSON.parse(File.read(path))
    found = Hash.new(0)
    report["profiles"].each do |profile|
      return "weights do not match" if profile["samples"].size != profile["weights"].size
      return "the end is not the sum" if profile["endValue"] != profile["weights"].sum
      profile["samples"].zip(profile["weights"]) { |stack, weight| found[stack.map { |frame| report["shared"]["frames"][frame]["name"] }] += weight }
    end
    differ(found, wanted.stacks) || schema(path, "speedscope.json")
  end

  def firefox(path, wanted, _)
    found = Hash.new(0)
    JSON.parse(File.read(path))["threads"].each do |thread|
      samples, stacks, frames, functions, names = thread.values_at("samples", "stackTable", "frameTable", "funcTable", "stringArray")
      problem = uneven(samples, stacks, frames, functions)
      return problem if problem
      samples["stack"].zip(samples["weight"]) do |stack, weight|
        labels = []
        while stack
          labels.unshift(names[functions["name"][frames["func"][stacks["frame"][stack]]]])
          stack = stacks["prefix"][stack]
        end
        found[labels] += (weight * 1_000_000).round
      end
    end
    differ(found, wanted.stacks) || schema(path, "firefox-47.json")
  end

  def uneven(*tables)
    tables.each do |table|
      table.each { |name, column| return "#{name} has #{column.size} of #{table["length"]} rows" if column.is_a?(Array) && column.size != table["length"] }
    end
    nil
  end

  # Each frame's time and place, in its caller's.
  def svg(path, wanted, _)
    errors, status = Open3.capture2e("xmllint", "--noout", "--huge", path)
    return errors unless status.success?
    frames = File.read(path).scan(/<g data-x="[^"]*" data-w="[^"]*" data-depth="(\d+)" data-ns="(\d+)" data-name="([^"]*)"><title>[^<]*<\/title><rect x="([\d.]+)%" y="\d+" width="([\d.]+)%"/).map do |depth, time, name, x, width|
      [depth.to_i, CGI.unescapeHTML(name), time.to_i, x.to_f, width.to_f]
    end
    expected = Hash.new(0)
    wanted.stacks.each { |stack, value| (0..stack.size).each { |depth| expected[stack.take(depth)] += value } }
    stack, found, right = [], {}, []
    frames.each do |depth, name, time, x, width|
      stack = depth.zero? ? [] : [*stack.take(depth - 1), name]
      return "#{stack} is there twice" if found.key?(stack)
      found[stack] = time
      return "#{stack.inspect[0, 100]} is #{width} wide" if (width - 100.0 * time / wanted.whole).abs > 2e-6
      right[depth] = [x, x + width]
      return "#{stack.inspect[0, 100]} is not within its caller" if depth.positive? && (x < right[depth - 1][0] - 1e-5 || x + width > right[depth - 1][1] + 1e-5)
    end
    differ(found, expected.select { |key, value| found.key?(key) || value > wanted.whole / 12_000.0 })
  end

  # In a schema of our own, a field that it does not name is an error.
  def schema(path, name)
    out, status = Open3.capture2e("python3", "-c", <<~PYTHON, File.join(__dir__, "../schemas", name), path, File.join(__dir__, "../triage"))
      import json, sys, jsonschema
      sys.path.append(sys.argv.pop())
      from formats import closed
      schema, value = (json.load(open(path)) for path in sys.argv[1:])
      schema = closed(schema) if "/docs/" in sys.argv[1] else schema
      jsonschema.validators.validator_for(schema)(schema).validate(value)
    PYTHON
    status.success? ? nil : out.lines.grep(/Error/).last.to_s
  end

  ALL = {
    ".svg" => method(:svg), ".firefox.json" => method(:firefox),
    ".pb.gz" => method(:pprof), ".callgrind" => method(:callgrind), ".speedscope.json" => method(:speedscope),
    ".folded" => method(:folded), ".txt" => method(:text), ".json" => method(:json)
  }.freeze
end
