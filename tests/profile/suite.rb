# SPDX-License-Identifier: MIT
require "json"
require "open3"
require "zlib"
require_relative "truth"
require_relative "browser"
require_relative "readers"
require_relative "../support/profile_endings"

class Suite
  TOP = File.expand_path("../..", __dir__)
  RCORE = ENV["RCORE"] || File.join(TOP, "build/rcore")
  WRITE = File.join(ENV["BUILD"] || File.join(TOP, "build"), "tests/profile/write")

  def initialize(seed)
    @seed = seed
    @passed = @failed = 0
  end

  PARTS = %w[agree application processes long times browser hostile where zeroes diff modes redaction damage refused size].freeze

  def run(folder, parts)
    unknown = parts - PARTS
    abort "tests/profile/run: no part is called #{unknown.first}; the parts are #{PARTS.join(", ")}" unless unknown.empty?
    @folder = folder
    (parts.empty? ? PARTS : parts).each { |part| send(part) }
  end

  def close
    puts "seed #{@seed}" if @failed.positive?
    puts "#{@passed} passed, #{@failed} failed"
    @failed.zero? ? 0 : 1
  end

  private

  # Each output of one recording has the same totals, which are those of the samples.
  def agree
    agreement("agree", recording("agree"))
    # Those of tests/html/run and `browser` need a browser.
    endings = ProfileEndings.of(RCORE) - [".html"]
    missing, gone = endings - Readers::ALL.keys, Readers::ALL.keys - endings
    check("each output has a reader", (missing + gone).empty?, "ALL in tests/profile/readers.rb lacks #{missing}; --help lacks its #{gone}")
  end

  # Each process has the sums of its threads. See "cluster" of write.c.
  def processes
    recorded = recording("processes", kind: "cluster")
    agreement("several processes", recorded)
    wanted = recorded.truth.samples.group_by { |sample| 4242 + sample.thread[/\d+/].to_i % 3 }.transform_values { |samples| process_sums(samples) }
    roles = { 4242 => "Puma", 4243 => "Puma worker 0", 4244 => "Puma worker 1" }
    json = JSON.parse(output(recorded, "processes.json"))
    found = json["processes"].drop(1).to_h { |each| [each["pid"], each] }
    check("processes in JSON", found.transform_values { |each| each.values_at("samples", "wall", "cpu", "gvl") } == wanted.transform_values { |sums| sums.first(4) }, found)
    check("their roles", found.transform_values { |each| each["role"] } == roles, found)
    check("which one ended", found.transform_values { |each| each["ended"] } == { 4242 => nil, 4243 => nil, 4244 => 7_000_000_000 }, found)
    check("threads name their process", json["threads"].drop(1).all? { |thread| json["processes"][thread["process"]]["pid"] == thread["pid"] })
    text, = report(recorded)
    rows = text.scan(/^ *(\d+\.\d{3}) +([\d.]+)% +([\d.]+)% +(\d+)  (\d+)  (Puma(?: worker \d)?)  puma.*?(  \(ended after 7\.0 s\))?$/)
    whole = wanted.values.sum { |sums| sums[2] }
    told = wanted.map do |pid, (samples, _, cpu, gvl, threads)|
      [format("%.3f", cpu / 1e9), format("%.1f", 100.0 * cpu / whole), format("%.1f", 100.0 * gvl / threads), samples.to_s, pid.to_s, roles[pid], pid == 4244 ? "  (ended after 7.0 s)" : nil]
    end
    check("processes in the text, the busiest first", rows == told.sort_by { |row| -row[0].to_f }, text)
    check("one process has no table", !report(recording("alone")).first.include?("  process\n"))
  end

  # Long names of characters of 2, 3 and 4 bytes, in every place: each output may cut them, but between characters.
  def long
    recorded = recording("long", kind: "long")
    [[], %w[--by thread], %w[--by process], %w[--by fiber], %w[--by state], %w[--by label:tenant], ["--diff", recorded.path]].each do |options|
      names = [*Readers::ALL.keys, ".html"].map { |ending| File.join(@folder, "long#{ending}") }
      out, errors, status = report(recorded, *options, *names.flat_map { |name| ["-o", name] })
      text, = report(recorded, *options)
      texts = names.to_h { |name| [File.basename(name), name.end_with?(".pb.gz") ? strings_of(Zlib.gunzip(File.binread(name))) : File.read(name)] }.merge("table" => text, "errors" => errors + out)
      wrong = texts.select { |_, output| !output.valid_encoding? || output.match?(/\\x[89A-F]|\ufffd/) }
      check("cuts no character #{options.join(" ")[0, 40]}", status.zero? && wrong.empty?, wrong.map { |name, output| [name, output.b[/.{20}(?:\\x[89A-F]|\xef\xbf\xbd).{20}/mn]] }.inspect)
    end
    _, errors, = report(recorded, "--by", "label:nobody")
    check("cuts no character of keys", errors.valid_encoding? && errors.include?("...") && !errors.match?(/\\x[89A-F]/), errors.b)
  end

  # The table of strings of a pprof file: field 6 of its message.
  def strings_of(bytes)
    strings, at = [], 0
    number = lambda do
      value = shift = 0
      loop do
        byte = bytes.getbyte(at)
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        return value if byte < 0x80
      end
    end
    while at < bytes.size
      tag = number.call
      value = number.call
      next unless (tag & 7) == 2
      strings << bytes[at, value] if tag >> 3 == 6
      at += value
    end
    strings.join("\n").force_encoding("UTF-8")
  end

  # [samples, wall, CPU, wall that threads waited for the GVL, wall of threads]
  def process_sums(samples)
    threads = samples.reject { |sample| sample.state == "parked" }
    [samples.size, samples.sum(&:wall), samples.sum(&:cpu), threads.select { |sample| sample.state == "gvl" }.sum(&:wall), threads.sum(&:wall)]
  end

  # The table of the application's innermost methods, of all samples and of each group.
  def application
    recorded = recording("application", kind: "gems")
    found = application_tables(output(recorded, "application.txt"))
    check("the time of each stack counts for one method", found.size == 1 && differs_little?(found.first, innermost(recorded.truth.samples)))
    groups = recorded.truth.samples.group_by(&:thread).values.map { |samples| innermost(samples) }
    found = application_tables(output(recorded, "threads.txt", "--by", "thread"))
    check("--by thread has a table for each", found.size == groups.size && groups.all? { |group| found.any? { |table| differs_little?(table, group) } })
    out, = report(recorded)
    check("the table is cut", application_tables(out).first.size == 10 && out.include?("... and "))
    out, = report(recording("deep", kind: "deep"))
    check("a program without gems has the table", application_tables(out) == [{ "f  f.rb:1" => 0.01 }], out)
  end

  # [{method => seconds}], one for each table.
  def application_tables(text)
    text.split(/^   time s +innermost method of the application$/).drop(1).map do |table|
      table.lines(chomp: true).drop(1).take_while { |line| line.match?(/\A +\d/) }.to_h do |line|
        time, method = line.match(/\A +(\d+\.\d+) +[\d.]+%  (.*)\z/).captures
        [method, time.to_f]
      end
    end
  end

  # A script that loads the program is no method of it.
  def innermost(samples)
    samples.each_with_object(Hash.new(0)) do |sample, sums|
      own = sample.stack.reverse.find { |frame| frame.kind == "ruby" && frame.path.start_with?("lib/") }
      sums[own ? "#{own.label}  #{own.path}:#{own.first_line}" : "(none)"] += sample.wall / 1e9
    end
  end

  def differs_little?(found, wanted) = Readers.differ(found, wanted, 0.0006).nil?

  # Zoom and search, in a flame graph that is drawn whole.
  def browser
    recorded = recording("browser", kind: "short")
    browser = Browser.new(@folder)
    output(recorded, "browser.svg")
    path = File.join(@folder, "browser.svg")
    random = Random.new(@seed)
    3.times do
      index = random.rand(60)
      problem = browser.zoom(path, index)
      check("zooms to frame #{index}", problem.nil?, problem)
    end
    name = recorded.truth.samples.flat_map { |sample| sample.stack.map(&:label) }.sample(random: random)
    problem = browser.search(path, name)
    check("searches for #{name}", problem.nil?, problem)
    output(recording("scripts", kind: "hostile"), "scripts.svg")
    frames, page = browser.open(File.join(@folder, "scripts.svg"), {})
    hostile = frames.find { |frame| frame.name == "<script>alert(1)</script>" }
    check("runs no script of a name", hostile && page.scan("<script").size == 1 && page.scan(/<svg\b/).size == 2)
  end

  def hostile = agreement("hostile", recording("hostile", kind: "hostile"))

  # [track of Firefox => [time, wall time, CPU time] of each run of samples], of samples of one thread or parked fiber.
  def runs(samples)
    last = {}
    samples.each_with_object(Hash.new { |hash, key| hash[key] = [] }) do |sample, tracks|
      is_parked = sample.state == "parked"
      of, key = is_parked ? sample.fiber : sample.thread, [sample.state, sample.wait, sample.stack]
      if last[[is_parked, of]]&.first == key
        run = last[[is_parked, of]].last
        run[1] += sample.wall
        run[2] += sample.cpu
      else
        run = [sample.time, sample.wall, sample.cpu]
        last[[is_parked, of]] = [key, run]
        tracks["#{sample.thread}#{" worker" if sample.thread[-1].to_i.odd?}#{" parked fibers" if is_parked}"] << run
      end
    end
  end

  def times
    recorded = recording("times")
    found = JSON.parse(output(recorded, "times.firefox.json"))["threads"].to_h do |thread|
      rows = thread["samples"].values_at("time", "weight", "threadCPUDelta").transpose
      [thread["name"], rows.map { |time, weight, cpu| [(time * 1e6).round, (weight * 1e6).round, cpu] }]
    end
    wanted = runs(recorded.truth.samples)
    check("tracks of Firefox", found.keys.sort == wanted.keys.sort, found.keys.inspect)
    wrong = wanted.reject { |name, rows| found[name] && found[name] == found[name].sort_by(&:first) && found[name].sort == rows.sort }
    check("times of Firefox", wrong.empty?, wrong.keys.inspect)
  end

  def modes
    recorded = recording("modes")
    agreement("--mode cpu", recorded, measure: :cpu)
    agreement("--by state", recorded, by: "state", group: ->(sample) { sample.wait.empty? ? sample.state : "#{sample.state} (#{sample.wait})" })
    agreement("--by thread", recorded, by: "thread", group: ->(sample) { "4242 #{sample.thread}#{" worker" if sample.thread[-1].to_i.odd?}" })
    agreement("--by fiber", recorded, by: "fiber", group: ->(sample) { sample.fiber })
    agreement("--by label", recorded, by: "label:request_id",
              group: ->(sample) { (value = sample.labels["request_id"]) ? "request_id=#{value}" : "(no request_id)" })
    groups = report(recorded, "--by", "label:request_id").first.scan(/^(\(no request_id\)|request_id=\S+)  (\d+\.\d+) s \(/)
    times = groups.map { |_, time| time.to_f }
    check("--by label prints samples without it last", groups.last.first == "(no request_id)" && times[0..-2] == times[0..-2].sort.reverse && times.last > times[-2], groups.inspect)
    _, errors, status = report(recorded, "--by", "label:nobody")
    check("--by a label of no sample is noted", status == 0 && errors.match?(/no sample has the label 'nobody'; #{labels(recorded)}; .*--label nobody/), errors)
    _, errors, status = report(recorded, "--by", "label:tenant")
    check("--by a label that samples have is not", status == 0 && errors.empty?, errors)
  end

  def where
    recorded = recording("where")
    agreement("--where with a value", recorded, arguments: ["--where", "request_id=3"]) { |sample| sample.labels["request_id"] == "3" }
    agreement("--where with a key", recorded, arguments: ["--where", "tenant"]) { |sample| sample.labels.key?("tenant") }
    agreement("--where twice", recorded, arguments: ["--where", "tenant=acme", "--where", "request_id=0"]) do |sample|
      sample.labels["tenant"] == "acme" && sample.labels["request_id"] == "0"
    end
    _, errors, status = report(recorded, "--where", "nobody=0")
    check("--where that nothing meets", status == 64 && errors.match?(/no sample has nobody=0; samples with other labels, or none: \d+; #{labels(recorded)};/), errors)
    bare = recording("bare", kind: "deep")
    _, errors, status = report(bare, "--where", "nobody")
    check("--where without labels", status == 64 && errors.include?("; no sample has a label;"), errors)
  end

  # Returns a pattern for the message that lists the keys, in any order.
  def labels(recorded)
    keys = recorded.truth.samples.flat_map { |sample| sample.labels.keys }.uniq
    "samples have the labels (?:#{keys.permutation.map { |order| order.join(", ") }.join("|")})"
  end

  # Methods and groups that got no CPU time are left out, unless all are asked for.
  def zeroes
    recorded = recording("zeroes", kind: "wide")
    table = ->(*options) { report(recorded, "--mode", "cpu", *options).first[/^ +self s.*\z/m] }
    nothing = /^ +0\.000 +[\d.]+% +0\.000 /
    wanted = table.call("--all").lines.grep(nothing).size
    cut = table.call
    check("rows of zeroes", wanted.positive? && cut.lines.grep(nothing).empty? && cut.include?("\n#{wanted} methods with less than 0.0005 s left out (--all shows each)\n"), cut)
    groups = report(recorded, "--mode", "cpu", "--by", "thread").first
    own = /^ +0\.000 +[\d.]+% +\d+\.\d+ +[\d.]+% +[\d.]+%  /
    check("methods of a group without time of their own", groups.lines.grep(own).empty? && groups.include?(" methods with less than 0.0005 s of their own left out (--all shows each)\n"), groups)
    check("all methods of a group", report(recorded, "--mode", "cpu", "--by", "thread", "--all").first.lines.grep(own).any?)
    check("groups of zeroes", groups.match?(/^\d+ groups? with less than 0\.0005 s left out/) && !groups.match?(/^\S.*  0\.000 s \(/), groups)
  end

  # The same recording against itself, and against one that has twice the time.
  def diff
    new, old = recording("new"), recording("old")
    both = output(new, "diff.folded", "--diff", old.path)
    expected = scaled(old, new)
    expected_new = new.truth.stacks
    lines = both.lines.map { |line| line.chomp.match(/\A(.*) (\d+) (\d+)\z/m).captures }
    found = lines.to_h { |stack, was, now| [stack, [was.to_i, now.to_i]] }
    wrong = found.reject do |stack, (was, now)|
      key = Readers.unfold(stack)
      now == expected_new.fetch(key, 0) && (was - expected.fetch(key, 0)).abs <= 20
    end
    check("--diff as folded stacks", wrong.empty? && found.size == (expected.keys | expected_new.keys).size, wrong.first.inspect)
    same = JSON.parse(output(new, "same.json", "--diff", new.path))
    check("--diff with itself", same["totals"].all? { |total| total["wall"] == total["old_wall"] && total["samples"] == total["old_samples"] })
  end

  def redaction
    recorded = recording("redaction", kind: "hostile")
    all = output(recorded, "all.json", "--redact", "all")
    labels = recorded.truth.samples.flat_map { |sample| sample.stack.map(&:label) }.uniq.select { |label| label.size > 4 }
    shown = labels.select { |label| JSON.parse(all)["functions"].any? { |function| function["label"] == label } }
    check("--redact all", shown.empty? && !all.include?("hunter2") && !all.include?("lib/file"), shown.first.inspect)
    strings = output(recorded, "strings.json", "--redact", "strings")
    values = JSON.parse(strings)["totals"].flat_map { |total| (total["labels"] || {}).values }.uniq
    kept = values.select { |value| value.include?("script") || value.include?("caf") }
    check("--redact strings", kept.empty? && !strings.include?("hunter2") && strings.include?("Class2#method30"), kept.inspect)
    check("--redact secrets", !output(recorded, "secrets.txt", "--redact", "secrets").include?("hunter2"))
  end

  def damage
    recorded = recording("damage")
    bytes = File.binread(recorded.path)
    cut = File.join(@folder, "cut.rec")
    random = Random.new(@seed)
    8.times do
      File.binwrite(cut, bytes[0, 16 + random.rand(bytes.size - 16)])
      text, errors, status = report(Recorded.new(cut, nil))
      check("a file that was cut off", [0, 1].include?(status) && errors.lines.size == 1 && text.include?("recorded") && !text.start_with?("\n"), errors)
      flipped = bytes.dup
      at = 16 + random.rand(bytes.size - 16)
      flipped.setbyte(at, flipped.getbyte(at) ^ (1 << random.rand(8)))
      File.binwrite(cut, flipped)
      _, errors, status = report(Recorded.new(cut, nil))
      check("a file with a flipped bit", status == 1 && errors.match?(/damaged in block \d+, at byte \d+/), errors)
    end
    _, errors, status = report(recording("unended", kind: "unended"))
    check("a recording without its end", status.zero? && errors.include?("has no end"), errors)
  end

  # [what is wrong, arguments, exit status, words of the one line]
  def refused
    recorded = recording("refused").path
    newer, foreign, empty = %w[newer foreign empty].map { |name| File.join(@folder, "#{name}.rec") }
    File.binwrite(newer, File.binread(recorded).tap { |bytes| bytes.setbyte(8, 9) })
    File.binwrite(foreign, "\x7fELF#{"\0" * 100}")
    File.binwrite(empty, "")
    File.symlink(recorded, itself = File.join(@folder, "itself.json"))
    system("mkfifo", fifo = File.join(@folder, "fifo"))
    [["a newer version", [newer], 2, "version 9"], ["a foreign file", [foreign], 2, "not a recording"], ["an empty file", [empty], 2, "not a recording"],
     ["a FIFO", [fifo], 2, "not a regular file"], ["a folder", [@folder], 2, "not a regular file"],
     ["no file", [File.join(@folder, "none.rec")], 2, "No such file"], ["no argument", [], 64, "missing FILE"],
     ["two recordings", [recorded, recorded], 64, "one recording"], ["an unknown ending", [recorded, "-o", "x.flame"], 64, "names no format"],
     ["an unknown group", [recorded, "--by", "method"], 64, "--by"], ["itself as output", [recorded, "-o", itself], 64, "the recording itself"],
     ["an output that cannot be", [recorded, "-o", "/nonexistent/x.txt"], 2, "/nonexistent"],
     ["one output twice", [recorded, "-o", "#{@folder}/a.json", "-o", "#{@folder}/../#{File.basename(@folder)}/a.json"], 64, "two -o options name"]].each do |what, arguments, expected, words|
      out, errors, status = Open3.capture3(RCORE, "report", *arguments)
      check("refuses #{what}", status.exitstatus == expected && errors.lines.size == 1 && errors.include?(words) && out.empty?, "#{status.exitstatus}: #{errors}")
    end
  end

  # An hour at 99 Hz with 20 threads.
  def size
    path = File.join(@folder, "hour.rec")
    memory, status = Open3.capture2(WRITE, @seed.to_s, path, "hour")
    check("an hour has less than 50 MB", status.success? && File.size(path) < 50_000_000, "#{File.size(path)} bytes")
    check("an hour is written with less than 64 MiB", memory.to_i.between?(1, 64 << 10), "#{memory.to_i} KiB")
    table = system(RCORE, "report", path, "-o", File.join(@folder, "hour.txt"), rlimit_data: 128 << 20)
    check("an hour is reported with less than 128 MiB", table)
    page = File.join(@folder, "hour.html")
    check("a page about an hour has less than 1 MB", system(RCORE, "report", path, "-o", page) && File.size(page) < 1_000_000)
    File.unlink(path)
  end

  Recorded = Struct.new(:path, :truth)

  def recording(name, kind: "random")
    path = File.join(@folder, "#{name}.rec")
    lines, status = Open3.capture2(WRITE, (@seed + name.sum).to_s, path, kind)
    status.success? or abort "#{WRITE} failed"
    Recorded.new(path, Truth.new(lines.lines))
  end

  def report(recorded, *arguments)
    out, errors, status = Open3.capture3(RCORE, "report", recorded.path, *arguments)
    [out, errors, status.exitstatus]
  end

  def output(recorded, name, *arguments)
    path = File.join(@folder, name)
    _, errors, status = report(recorded, "-o", path, *arguments)
    check("writes #{name} #{arguments.join(" ")}", status.zero? && errors.empty?, errors) unless status.zero? && errors.empty?
    File.binread(path).force_encoding("UTF-8")
  end

  # Compares what each reader finds in its output with the same sums of the
  # samples.
  def agreement(name, recorded, measure: :wall, by: nil, group: nil, arguments: [], &condition)
    truth = condition ? recorded.truth.only(&condition) : recorded.truth
    options = [*arguments, *(["--by", by] if by), *(["--mode", "cpu"] if measure == :cpu)]
    wanted = Readers::Sums.new(truth.stacks(measure, group: group), truth.whole(measure))
    Readers::ALL.each do |ending, reader|
      path = File.join(@folder, "out#{ending}")
      _, errors, status = report(recorded, "-o", path, *options)
      problem = status.zero? && errors.empty? ? reader.call(path, wanted, measure) : errors
      check("#{name}: #{ending}", problem.nil?, problem)
    end
  end

  def scaled(old, new)
    factor = duration(new.truth).to_f / duration(old.truth)
    old.truth.stacks.transform_values { |value| (value * factor).round }
  end

  # Each sample represents the time around it.
  def duration(truth)
    begins = truth.samples.map { |sample| [sample.time - sample.wall / 2, 0].max }
    begins.zip(truth.samples).map { |begin_time, sample| begin_time + sample.wall }.max - begins.min
  end

  def check(name, passed, detail = nil)
    passed ? @passed += 1 : @failed += 1
    puts passed ? "ok    #{name}" : "FAIL  #{name}#{": #{detail.to_s[0, 500]}" if detail}"
  end
end
