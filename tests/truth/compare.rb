# SPDX-License-Identifier: MIT
require_relative "waits"

# Compares a report of rcore (its JSON) with what the debuggee wrote (its
# truth). Each difference is a line. Nothing is left out of the comparison.
class Compare
  # Classes that compare what a fixture writes besides its stacks: new(truth,
  # report).run returns the differences.
  MORE = []

  HANDLER = /\A(?:rescue|ensure) in /

  attr_reader :differences, :frames

  # ending: how the process came to its core: :abort, :stop, :sleep.
  # lost: addresses that are not in the core.
  def initialize(truth, labels, report, ending, lost)
    @truth, @labels, @report, @ending, @lost = truth, labels, report, ending, lost
    @newest = Gem::Version.new(truth["ruby"]) >= Gem::Version.new("3.4")
    @differences = []
    @frames = 0
    @fibers = report["fibers"].to_h { |fiber| [fiber["id"], fiber] }
    @threads = report["threads"].to_h { |thread| [thread["id"], thread] }
  end

  def run(status)
    whole(status)
    ractors
    threads
    fibers
    ids
    cause
    MORE.each { |more| @differences.concat(more.new(@truth, @report).run) }
    Waits.new(@truth, @report).differences.each { |line| fail(line) } if @truth["waits"] && @lost.empty?
    self
  end

  private

  def same(what, told, reported)
    return true if told == reported
    @differences << "#{what}: Ruby says #{told.inspect}, rcore #{reported.inspect}"
    false
  end

  def fail(what)
    @differences << what
  end

  def whole(status)
    complete = @report["fibers"].none? { |fiber| lost?(fiber) }
    same("exit status", complete ? 0 : 1, status)
    same("complete", complete, @report["complete"])
    zeroes = @report["problems"].grep(/\Athe stacks of \d+ of \d+ threads (have|contain) only zeroes/)
    same("problems", zeroes, @report["problems"])
    # A thread's VM stack may not be on its machine stack.
    stack_lost = @report["fibers"].any? { |fiber| fiber["root"] && lost?(fiber) }
    same("whether stacks have only zeroes", @lost.any? && (stack_lost || zeroes.one?), zeroes.one?)
    same("version", @truth["ruby"], @report.dig("ruby", "version"))
    # Features that are switched on at run time (3.1's +YJIT, 3.4's +PRISM) are
    # in no string of the binary.
    same("description", @truth["description"].gsub(/ \+\w+(?= )/, ""), @report.dig("ruby", "description"))
    same("pid", @truth["pid"], @report["pid"])
    @report["proofs"].each { |proof| fail("proof #{proof['name']} failed: #{proof['detail']}") unless proof["passed"] }
  end

  def ractors
    told = @truth["ractors"]
    return if told.empty?
    reported = @report["ractors"].reject { |ractor| ractor["id"] == 1 }
    same("ractors", told.map { |ractor| ractor.values_at("id", "name", "threads") }.sort_by(&:first),
         reported.map { |ractor| [ractor["id"], ractor["name"], ractor["threads"].size] })
  end

  def threads
    living = @report["threads"].reject { |thread| thread["ended"] }.to_h { |thread| [thread["object"], thread] }
    same("threads", @truth["threads"].map { |thread| thread["object"] }.sort, living.keys.compact.sort)
    @truth["threads"].each do |told|
      reported = living[told["object"]] or next
      thread("#{reported['id']} #{told['name']}".strip, told, reported)
    end
  end

  def thread(what, told, reported)
    same("#{what}: name", told["name"], reported["name"])
    same("#{what}: status", told["status"], reported["status"])
    same("#{what}: main", !!told["main"], !!reported["main"]) if told.key?("main")
    same("#{what}: tid", told["tid"], reported["tid"]) if told.key?("tid")
    same("#{what}: ractor", told["ractor"] || 1, reported["ractor"]) if reported.key?("ractor") || told.key?("ractor")
    # Only M:N scheduling has threads without a kernel thread.
    same("#{what}: parked", told["tid"] ? nil : true, reported["parked"]) if told.key?("tid")
    fail("#{what}: #{reported['problem']}") if reported["problem"]
    fiber = @fibers[reported["current_fiber"]] or return fail("#{what}: no current fiber")
    stack("#{what} #{fiber['id']}", told["frames"], fiber)
    fail("#{what}: no native stack") unless fiber["native"] || lost?(fiber)
  end

  def fibers
    reported = @report["fibers"].select { |fiber| fiber["object"] }.to_h { |fiber| [fiber["object"], fiber] }
    same("fibers", @truth["fibers"].map { |fiber| fiber["object"] }.sort, reported.keys.sort)
    @truth["fibers"].each { |told| fiber(told, reported[told["object"]], reported) }
    @report["fibers"].each do |fiber|
      fail("#{fiber['id']}: #{fiber['problem']}") if fiber["problem"] && !lost?(fiber)
      fail("#{fiber['id']}: neither an object nor a root") unless fiber["object"] || fiber["root"]
    end
  end

  def fiber(told, fiber, reported)
    return unless fiber
    id = fiber["id"]
    same("#{id}: status", told["status"], fiber["status"])
    thread = @threads[fiber["thread"]] || {}
    same("#{id}: thread", told["thread"], thread["object"]) if told["thread"] && !told["thread_ended"]
    same("#{id}: of an ended thread", told["thread_ended"], !!thread["ended"]) unless told["thread_ended"].nil?
    if told["resumed_by"]
      same("#{id}: resumed by", reported.dig(told["resumed_by"], "id"), fiber["resumed_by"])
    elsif told["status"] != "resumed"
      same("#{id}: resumed by", nil, fiber["resumed_by"])
    end
    stack(id, told["frames"], fiber) if told["frames"]
    fail("#{id}: no native stack") unless fiber["native"] || told["status"] != "suspended" || lost?(fiber)
    context(id, told["context"], fiber["context"])
    thread_local(id, told, fiber) if told["context"] && fiber["current"] && @report["machine"] == "x86_64"
  end

  # What the process itself would use as the context of the thread that runs
  # this fiber.
  def thread_local(id, told, fiber)
    context = fiber["context"] || {}
    return if @lost.any? && !context.key?("thread_local") # with the thread's stack, where it is kept
    same("#{id}: its thread's pointer is another", told["stale"], context["thread_local"] != context["table"])
    same("#{id}: the difference is said", told["stale"], !context["difference"].nil?)
  end

  # Compares all of it: no fiber and no key may be missing or added.
  def context(id, told, reported)
    return same("#{id}: context", told, reported) unless told && reported
    pairs = reported["pairs"]
    same("#{id}: context", told, pairs.to_h { |pair| [pair["name"], pair["text"]] })
    same("#{id}: pairs", told.size, pairs.size)
    same("#{id}: size", told.size, reported["size"])
    problems = [reported["problem"], *pairs.flat_map { |pair| pair.values_at("problem", "name_problem") }].compact
    same("#{id}: problems of its context", [], problems)
  end

  def lost?(fiber)
    fiber["vm_stack"] && @lost.any? { |range| range.cover?(fiber["vm_stack"].hex) }
  end

  def stack(what, told, fiber)
    reported = fiber["frames"]
    if lost?(fiber)
      fail("#{what}: rcore does not say what is lost") unless fiber["problem"] || reported.any?
      sound = reported.reject { |frame| frame["kind"] == "broken" && frame["problem"] }
      return same("#{what}: frames made of nothing", [], sound)
    end
    shown = reported.reject { |frame| frame["native_hidden"] }
    native = shown.map { |frame| native(frame) }
    @frames += told.size
    known = told.map { |frame| frame[3] }
    told = told.map { |frame| frame.first(3) }
    first = (0...[told.size, native.size].max).find { |index| told[index] != native[index] }
    if first
      return fail("#{what}: frame #{first} of #{told.size}: Ruby says #{at(told[first])}, rcore #{at(native[first])}")
    end
    newest_labels(what, told, known, shown)
    shown.each { |frame| place("#{what}: #{frame['label']}", frame) }
    reported.each_with_index { |frame, index| hidden("#{what}: frame #{index}", frame, reported[index - 1]) }
  end

  # What is missing is the same as rcore's own.
  def native(frame)
    [frame["native_path"] || frame["path"], frame["native_line"] || frame["line"] || 0,
     frame["native_label"] || frame["label"]]
  end

  def at(frame)
    frame ? "#{frame[0]}:#{frame[1]}:in '#{frame[2]}'" : "no such frame"
  end

  # known: what the fixture itself says.
  def newest_labels(what, told, known, shown)
    expected = @labels.of(told).zip(known).map { |rehearsed, stated| stated || rehearsed }
    told.zip(expected, shown, told.drop(1)).each do |frame, label, reported, caller|
      if @newest
        # In 4.0, a method of Ruby's own has the place of its caller.
        there = caller && caller.first(2) == frame.first(2)
        fail("the rehearsal calls #{at(frame)} #{label}") if label && label != frame[2] && !there
        label = frame[2]
      end
      next fail("#{what}: the rehearsal does not know #{at(frame)}") unless label
      handler = handler(frame, caller, reported)
      same("#{what}: newest label of #{at(frame)}", "#{handler}#{label}", reported["label"])
    end
  end

  # rcore adds "rescue in" and "ensure in", which 3.4 no longer prints: its
  # backtrace hides the next frame instead. Before, an eval in a rescue had this
  # label, too, but it is called by another frame than the one that was rescued.
  def handler(frame, caller, reported)
    return reported["label"][HANDLER] if @newest
    frame[2][HANDLER] if caller && frame[2].sub(HANDLER, "") == caller[2]
  end

  # Ruby gives a C method its caller's place; rcore's own place says that it has
  # none. 4.0 also does this for its own methods; rcore's own place says where
  # they are.
  def place(what, frame)
    if frame["kind"] == "cfunc"
      same("#{what}: own place", [nil, nil], frame.values_at("path", "line"))
    elsif internal?(frame)
      fail("#{what}: own place: #{frame['path']}, line #{frame['line'].inspect}") unless frame["line"].to_i > 0
    else
      same("#{what}: own place", native(frame)[0, 2], [frame["path"], frame["line"] || 0])
    end
    fail("#{what}: #{frame['problem']}") if frame["problem"]
  end

  # Whether it is one of Ruby's own methods written in Ruby, which 4.0 hides.
  def internal?(frame)
    frame["path"].to_s.start_with?("<internal:") && (frame["native_path"] || frame["native_hidden"])
  end

  # Only these have no place in Ruby's own backtrace.
  def hidden(what, frame, inner)
    return unless frame["native_hidden"]
    return if %w[dummy ifunc].include?(frame["kind"]) || frame["under_construction"]
    return if @newest && ((inner && inner["label"] =~ HANDLER) || internal?(frame))
    fail("#{what}: #{frame['kind']} #{frame['label']} is hidden")
  end

  def ids
    %w[threads fibers].each do |kind|
      ids = @report[kind].map { |each| each["id"] }
      same("#{kind}: ids used twice", [], ids - ids.uniq)
    end
    @report["threads"].each do |thread|
      same("#{thread['id']}: fibers", thread["fibers"].sort,
           @report["fibers"].select { |fiber| fiber["thread"] == thread["id"] }.map { |fiber| fiber["id"] }.sort)
      fail("#{thread['id']}: #{thread['fibers']}") unless thread["fibers"].all? { |id| id.start_with?("#{thread['id']}.F") }
    end
  end

  # Checks a machine stack that overflowed: whose it was, and where it ended
  # according to the kernel.
  def overflow(told, fault, cause)
    return same("stack overflow", nil, cause["stack_overflow"]) unless told["overflow"]
    found = cause["stack_overflow"] or return fail("no stack overflow: #{cause['text']}")
    same("stack overflow: fiber", cause["fiber"], found["fiber"])
    fail("stack overflow: #{cause['text']}") unless cause["text"].include?("stack overflow of #{told['overflow']} ")
    start, guard_start, guard = found.values_at("stack_start", "guard_start", "guard_end").map { |each| each && each.hex }
    same("stack overflow: end of the stack", told["end"], start)
    same("stack overflow: end of the guard page", told["overflow"] == "the main thread" && fault["address"] ? nil : start, guard)
    reach = guard ? guard_start...guard : start - 8192...start
    # qemu saves no siginfo, and guards the main stack, too.
    return unless fault["address"]
    fail("stack overflow: fault at #{fault['address']}, guard from #{found['guard_start']}") unless reach.cover?(fault["address"].hex)
  end

  def cause
    return same("cause", nil, @report["cause"]) unless @ending == :abort
    told, reported = @truth["cause"], @report["cause"]
    return fail("no cause") unless reported
    # Ruby's own handler for SIGSEGV ends in abort().
    fault = reported["original"] || reported
    same("signal", told["signal"], fault["signal"])
    same("fault address", told["address"], fault["address"]) if told["address"]
    overflow(told, fault, reported)
    return if told["thread"] == "any"
    dying = @report["threads"].find { |thread| thread["object"] == @truth["dying"] } || {}
    same("thread that died", dying["id"], reported["thread"])
    same("fiber that died", dying["current_fiber"], reported["fiber"])
    same("crashed", [dying["id"]], @report["threads"].select { |thread| thread["crashed"] }.map { |thread| thread["id"] })
    same("GVL", told["gvl"] || "holder", dying["gvl"])
  end
end
