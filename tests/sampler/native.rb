# SPDX-License-Identifier: MIT

# Stacks with native frames.
module Native
  SECONDS = 6.0
  RATE = 100
  # Whether a method of the program calls into a library, or its source file if there is debug information.
  LIBRARY = %r{\A(?:libz\.so|zlib\.so|generator\.so|parser\.so|.*/ext/(?:zlib|json/.*)/\w+\.(?:c|rl)\z)}.freeze
  METHODS = { "deflates" => true, "sums_up" => true, "generates" => true, "parses" => true, "counts" => false }.freeze
  GAPS = 1 / 200.0
  GAP = "(native and Ruby frames do not match)"
  SLEEPERS = %w[sorts maps pops defines].freeze
  # Shares can be compared if the recording is worth so many samples of equal CPU time, and no more of the time than this may belong
  # to any method. If the machine is too busy for that, the program works again.
  EXACT = 300
  MOST_UNKNOWN = 0.05
  ROUNDS = 5

  def self.cases(rubies)
    rubies.flat_map { |ruby| [[ruby, []], *([[ruby, ["--yjit"]]] if ruby.version.segments.first(2) == [3, 1])] }.map do |ruby, options|
      SamplerCase.new(["native", ruby.name, *options].join(" ")) { Native.shares(self, ruby, options) }
    end
  end

  def self.shares(test, ruby, options)
    poor = []
    ROUNDS.times do
      poor << round(test, ruby, options)
      return if poor.last.nil?
    end
    test.fail("too little is known in each round: #{poor.join("; ")}")
  end

  # Returns what the recording lacks, or nil if it could be compared.
  def self.round(test, ruby, options)
    test.with_program(ruby, "native.rb", SECONDS, options: options) do |pid, _, folder|
      recording = test.record_while(ruby, pid, "--native", "-r", RATE) { Times.let_go(test, folder) }
      gaps = recording.sum("samples") { |total| recording.stack(total).include?(GAP) }
      all = recording.sum("samples") { true }
      # One in 200, and four sigma more: a busy machine may leave few samples.
      test.fail("#{gaps} of #{all} samples have a gap") if gaps > all * GAPS + 4 * Math.sqrt(all * GAPS)
      bare = unstopped(test)
      exact = recording.ticks.weighed
      seen, unknown = times_of(test, recording)
      known = format("as exact as %d, %.3f unknown", exact, unknown)
      return known if exact < EXACT || unknown > MOST_UNKNOWN
      shares = compare(test, seen, unknown, Times.notes(folder), exact)
      sleepers(test, ruby, recording, pid, bare)
      test.note = "#{shares}; #{gaps} gaps in #{all} samples; #{known}; not stopped #{bare} times"
    end
    nil
  end

  # How often rcore says that it could not stop the process, as on a busy machine. The samples of these ticks have Ruby frames only.
  def self.unstopped(test)
    File.read(File.join(test.folder, "while.log"))[/the process could not be stopped (\d+) times?, so native frames are missing/, 1].to_i
  end

  def self.bare?(frames)
    frames.none? { |frame| frame["kind"] == "native" }
  end

  # Returns the processor time of each method, outside of the library (false) and inside it (true), and which share of all time may
  # belong to any method: samples that do not show whether the library was called, and samples between two methods.
  def self.times_of(test, recording)
    seen = Hash.new(0)
    unknown = 0
    recording.totals.each do |total|
      next if SLEEPERS.include?(recording.thread(total)["name"])
      frames = recording.frames(total)
      method = frames.rindex { |frame| METHODS.key?(frame["label"][/\AObject#(\w+)\z/, 1]) }
      # Without native frames, nothing says whether the method in C has called the library.
      next unknown += total["cpu"] if method.nil? || (frames.last["kind"] == "c" && bare?(frames))
      name = frames[method]["label"][/\w+\z/]
      inside = frames.drop(method + 1).select { |frame| frame["kind"] == "native" }
      is_called = inside.any? { |frame| frame["path"] =~ LIBRARY }
      seen[[name, is_called]] += total["cpu"]
      test.fail("#{name}: #{frames.map { |frame| frame["label"] }}") if is_called && !METHODS[name]
    end
    [seen, unknown.fdiv(seen.values.sum + unknown)]
  end

  # Checks that the share of a method's processor time that is in the library is what the program noted.
  # `count` is how many samples the recording has. Returns the shares as text.
  def self.compare(test, seen, unknown, notes, count)
    whole, noted = seen.values.sum.to_f, notes.values.map(&:first).sum
    test.fail(format("%.3f of the time may belong to any method", unknown)) unless unknown <= MOST_UNKNOWN
    METHODS.map do |name, is_called|
      share, wanted = seen[[name, is_called]] / whole, notes[name].first / noted
      # Four sigma of so many samples, and what the method itself takes.
      allowed = 4 * Math.sqrt(wanted * (1 - wanted) / count) + 0.01 + unknown
      test.fail(format("%s: %.3f of the time, not %.3f", name, share, wanted)) if (share - wanted).abs > allowed
      format("%s %.3f of %.3f", name, share, wanted)
    end.join(", ")
  end

  # A thread that sleeps has the frames that `rcore analyze` shows of it, in that order. As many samples as rcore says may lack the
  # native ones.
  def self.sleepers(test, ruby, recording, pid, bare)
    out, = test.looked("analyze", "--json", "-p", pid, *ruby.files)
    report = JSON.parse(out, max_nesting: false)
    loops = loop_of(report)
    SLEEPERS.each do |name|
      thread = report["threads"].find { |each| each["name"] == name }
      wanted = shown(report["fibers"].find { |fiber| fiber["id"] == thread["current_fiber"] }, loops)
      lacking, whole = recording.totals.select { |total| recording.thread(total)["name"] == name }.partition { |total| bare?(recording.frames(total)) }
      stacks = whole.map { |total| recording.stack(total) }.uniq
      test.fail("#{name}: #{stacks.inspect}, not #{wanted}") unless stacks == [wanted]
      ruby_only = recording.frames(whole.first).reject { |frame| frame["kind"] == "native" }.map { |frame| frame["label"] } if whole.any?
      stacks = lacking.map { |total| recording.stack(total) }.uniq
      samples = lacking.sum { |total| total["samples"] }
      test.fail("#{name}: #{samples} samples without native frames, of #{bare} at most: #{stacks.inspect}") if samples > bare || (stacks - [ruby_only]).any?
    end
  end

  # The functions that run the interpreter: rb_vm_exec, and the one that it calls most often.
  def self.loop_of(report)
    activation = report["interpreter"]["function"]
    called = report["fibers"].flat_map { |fiber| fiber["native"].to_a.reject { |frame| frame["inlined"] }.each_cons(2).select { |_, caller| caller["function_start"] == activation }.map { |callee, _| callee["function_start"] } }
    [activation, called.max_by { |start| called.count(start) }]
  end

  # What a sample shows of a woven stack, outermost first: without what is outside of the first Ruby frame, and without
  # the interpreter's functions but the innermost.
  def self.shown(fiber, loops)
    steps = fiber["stack"].reverse.drop_while { |step| !step.key?("frame") }
    last = steps.rindex { |step| step.key?("frame") }
    steps.each_with_index.map do |step, at|
      next fiber["frames"][step["frame"]].then { |frame| frame["label"] || "block in C" } if step.key?("frame")
      native = fiber["native"][step["native"]]
      host = fiber["native"].drop(step["native"]).find { |frame| !frame["inlined"] }
      next if native["interpreter"] && (at < last || loops.include?(host["function_start"]))
      native["function"] || !native["module"] && "[JIT code]" || format("%s+0x%x", native["module"], native["module_offset"] - native["pc"].hex + native["function_start"].hex)
    end.compact
  end
end
