# SPDX-License-Identifier: MIT

# Compares one report of rcore with what Ruby says about the same moment.
class StackComparison
  # Where Ruby's own answer is missing or wrong, so that it cannot be compared, and why. Each
  # case is counted; nothing else is left out.
  MASKS = {
    starting: "Ruby has no VM yet: rcore says that it finds none, and Ruby prints no backtrace",
    stale: "compiled code stores its pc only before calls, so Ruby prints the line of an earlier call for the innermost frame: rcore must print none",
    pushed: "the innermost frame is being pushed, so Ruby prints what an earlier frame left in its place: rcore must mark it; all other frames are compared",
    switching: "the thread already has the fiber that it resumes, and the native thread, which Ruby asks, still has the one before (ec_switch() of cont.c): that one is compared",
    late: "a thread that blocks signals waited for one that the test held: no copy was made at this moment, so Ruby said nothing",
    collecting: "the collector was at work, and Thread#backtrace makes objects: only rb_backtrace(), whose labels have no classes, was compared",
    compacting: "the collector was moving objects, and rb_backtrace() reads the places that they have left",
    no_truth: "the moment was inside an allocator, so the copy died while it made objects: what it said before that was compared",
    hung: "the copy waited for a lock whose holder is not in it: what it said before that was compared",
  }.freeze

  Difference = Struct.new(:kind, :text)

  attr_reader :differences, :masked, :stacks, :frames

  # layout: the one of this Ruby.
  def initialize(ruby, layout, look)
    @ruby, @ruby_layout, @look, @report = ruby, layout, look, look.report
    @newest = ruby.version >= Gem::Version.new("3.4")
    @differences = []
    @masked = []
    @stacks = @frames = 0
  end

  def run
    return no_report unless @report && @report["fibers"]
    sound
    return @masked << :late if @look.late > 0
    return @masked << :compacting if @report.dig("facts", "gc", "phase") == "compacting"
    @fibers = @report["fibers"].to_h { |fiber| [fiber["id"], fiber] }
    @by_tid = @report["threads"].select { |thread| thread["tid"] }.to_h { |thread| [thread["tid"], thread] }
    @compared = {}
    @look.truth.each { |tid, told| thread(tid, told) if told }
  end

  private

  # Ruby has a thread as soon as it has a VM. Before that, rcore ends with one
  # line and status 2 or 3.
  def no_report
    is_clean = [2, 3].include?(@look.status) && @look.said.match?(/\Arcore: [^\n]*\n?\z/)
    return @masked << :starting if is_clean && @look.truth.values.compact.none? { |told| told.plain&.any? }
    fail(:no_report, "status #{@look.status}: #{@look.said}")
  end

  def fail(kind, text)
    @differences << Difference.new(kind, text)
  end

  # What needs no truth: nothing is missing, and no right layout is reported as
  # wrong.
  def sound
    fail(:status, "status #{@look.status}, complete #{@report['complete'].inspect}") unless @look.status == 0 && @report["complete"]
    fail(:said, @look.said) unless @look.said.empty?
    fail(:layout, "layout #{@report['layout'].inspect}") unless @report.dig("layout") == @ruby_layout
    @report["proofs"].each { |proof| fail(:proof, "#{proof['name']}: #{proof['detail']}") unless proof["passed"] }
    problems(@report, "report")
    @report["fibers"].each { |fiber| outside(fiber, fiber["stack"].to_a) }
  end

  # All problems that any part of the report has.
  def problems(part, place)
    case part
    when Array then part.each { |each| problems(each, place) }
    when Hash
      place = part["id"] || place
      part.each do |name, value|
        told = Array(value).grep(String) if name.end_with?("problem", "problems") || name == "gap"
        told ? told.each { |text| fail(name.to_sym, "#{place} #{part['label']}: #{text}") } : problems(value, place)
      end
    end
  end

  # A thread's first functions call Ruby: no frame of Ruby's is outside them.
  OUTERMOST = /\A(?:main|__libc_start_main\w*|__libc_start_call_main|_start|start_thread|ruby_run_node)\z/

  def outside(fiber, stack)
    first = stack.index { |each| each["native"] && fiber["native"][each["native"]]["function"].to_s =~ OUTERMOST } or return
    lost = stack.drop(first).select { |each| each["frame"] && fiber["frames"][each["frame"]]["kind"] != "dummy" }
    return if lost.empty?
    labels = lost.map { |each| fiber["frames"][each["frame"]]["label"] }
    fail(:outside, "#{fiber['id']}: #{labels.first(3).inspect} outside #{fiber['native'][stack[first]['native']]['function']}")
  end

  def thread(tid, told)
    case told.state
    when :collecting then @masked << :collecting
    # A native thread that runs no Ruby thread at the moment reports nothing.
    when :died then @masked << (told.signal == 9 ? :hung : :no_truth) if @by_tid[tid]
    end
    own(tid, told.current) if @ruby.version >= Gem::Version.new("3.0")
    told.stacks.each { |stack| stack(stack) }
    plain(told) if told.stacks.empty? && told.plain
  end

  # Since 3.0, each native thread knows its own Ruby thread. Before, all know only the thread that holds the GVL.
  def own(tid, current)
    thread = @by_tid[tid] or return
    fail(:tid, "#{tid} runs #{current}, not #{thread['object']}") unless thread["object"] == current
  end

  # Several copies may report the same stack. It is compared once, because nothing moved between the copies.
  def stack(told)
    return if @compared[told.object]
    @compared[told.object] = true
    fiber = told.kind == "thread" ? fiber_of_thread(told) : fiber_of(told)
    return unless fiber
    return no_frames(told, fiber) unless told.frames
    compare(fiber, told.frames, shown(fiber), told.about)
  end

  # A thread that has left the VM's list is still its own current thread. Its stack is gone before it releases the GVL.
  def fiber_of_thread(told)
    thread = @report["threads"].find { |each| each["object"] == told.object }
    return before_switch(@fibers[thread["current_fiber"]], told) if thread
    return if told.frames.to_a.empty? && @look.truth.values.compact.any? { |each| each.current == told.object }
    fail(:thread_missing, "no thread #{told.object}, #{told.about}: #{told.frames&.first.inspect}")
    nil
  end

  # A fiber that has begun has frames.
  def before_switch(fiber, told)
    return fiber if !fiber || fiber["frames"].any? || told.frames.to_a.empty? || !fiber["resumed_by"]
    @masked << :switching
    @fibers[fiber["resumed_by"]]
  end

  def fiber_of(told)
    fiber = @report["fibers"].find { |each| each["object"] == told.object }
    return fiber if fiber || told.frames.nil? || told.frames.empty?
    fail(:fiber_missing, "no fiber #{told.object}, #{told.about}: #{told.frames.first.inspect}")
    nil
  end

  # Ruby shows no frames of threads that are being killed, or of fibers that
  # have ended.
  def no_frames(told, fiber)
    return if told.kind == "thread" || shown(fiber).empty?
    fail(:fiber_ended, "#{fiber['id']}, #{told.about}: #{shown(fiber).first.inspect}")
  end

  def shown(fiber)
    fiber["frames"].reject { |frame| frame["native_hidden"] }.map do |frame|
      [frame["native_path"] || frame["path"], frame["native_line"] || frame["line"] || 0,
       frame["native_label"] || frame["label"]]
    end
  end

  # rb_backtrace() knows no classes and hides nothing; a C method is where the next Ruby frame is, or in the program
  # itself if no Ruby code called it (oldbt_init() of vm_backtrace.c).
  def plain(told)
    return if @compared[told.current] || told.plain.empty?
    @compared[told.current] = true
    thread = @report["threads"].find { |each| each["object"] == told.current }
    fiber = thread && @fibers[thread["current_fiber"]]
    return fail(:thread_missing, "no thread #{told.current}: #{told.plain.first.inspect}") unless fiber
    frames = fiber["frames"].reject { |frame| %w[dummy ifunc].include?(frame["kind"]) || frame["under_construction"] }
    at = nil
    mine = frames.reverse.map do |frame|
      at = [frame["path"], frame["line"] || 0] unless frame["kind"] == "cfunc"
      [*(at || [frame["native_path"], 0]), frame["native_label"] || frame["label"]]
    end.reverse
    @newest ? compare(fiber, without_classes(told.plain, mine), without_classes(mine, mine)) : compare(fiber, told.plain, mine)
  end

  BLOCKS = /\A((?:block (?:\(\d+ levels\) )?in )*).*[.#]/m.freeze
  BLOCKS_AROUND = /\A(?:block (?:\(\d+ levels\) )?in )+/.freeze
  HANDLERS = /\b(?:rescue|ensure) in /.freeze

  # Only rb_backtrace() has the name of an eval. In a method of Ruby's core (<internal:...>), it also has the names of
  # blocks, for which Thread#backtrace has the method's name (location_cfunc_p of vm_backtrace.c).
  def without_classes(frames, mine)
    frames.zip(mine).map do |(path, line, label), other|
      label = other[2] if [nil, "<compiled>"].include?(label) && other
      label = label.to_s.sub(BLOCKS_AROUND, "") if path.to_s.start_with?("<internal:")
      [path, line, label.to_s.gsub(HANDLERS, "").sub(BLOCKS, '\\1')]
    end
  end

  def compare(fiber, told, mine, about = nil)
    @stacks += 1
    @frames += told.size
    mine = without_stale(fiber, told, mine)
    told = without_pushed(fiber, told, mine)
    return if told == mine
    # rcore's JSON has only valid UTF-8 of Ruby's labels.
    first = (0...[told.size, mine.size].max).find { |index| told[index] != mine[index] }
    kind = kind_of(told[first], mine[first], told.size, mine.size)
    fail(kind, "#{fiber['id']}#{", #{about}" if about}: frame #{first} of #{told.size} (rcore #{mine.size}): " \
               "Ruby says #{told[first].inspect}, rcore #{mine[first].inspect}")
  end

  # A method of Ruby's core (<internal:...>) has the line of its caller, which is not stale.
  def without_stale(fiber, told, mine)
    first = fiber["frames"].first
    return mine unless first&.fetch("pc_stale", false) && told.first && mine.first
    fail(:stale, "#{fiber['id']}: line #{first['line']} of a frame whose pc is stale") if first["line"]
    return mine unless mine[0][1].zero?
    @masked << :stale
    [[mine[0][0], told[0][1], mine[0][2]], *mine.drop(1)]
  end

  def without_pushed(fiber, told, mine)
    return told unless fiber["frames"].first&.fetch("under_construction", false) && told.size == mine.size + 1
    @masked << :pushed
    told.drop(1)
  end

  def kind_of(told, mine, size, other)
    return :count unless told && mine && size == other
    return :label if told.first(2) == mine.first(2)
    told[0] == mine[0] && told[2] == mine[2] ? :line : :frame
  end
end
