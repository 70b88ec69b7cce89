# SPDX-License-Identifier: MIT

# Compares the woven stacks of a report with what the extension logged.
class Order
  OURS = /\Aweave_/
  UNLOGGED = %w[overflow_deeper overflow_mutual overflow_other overflow_smallest].freeze # until the stack is full
  BLOCKS = %w[block_in_c catch_body fiber_in_c].freeze
  DEMANGLED = { ["Weave::compare(void const*, void const*)", "_ZN5Weave7compareEPKvS1_"] => "compare_by_ruby" }.freeze
  COLD = /\ACold[.#](early|late)\z/
  CERTAIN = %w[symbol code].freeze
  STARTS = %w[main __libc_start_call_main __libc_start_main ruby_run_node start_thread clone clone3].freeze
  PROGRAMS = %w[cases steps deep].freeze

  attr_reader :differences, :frames

  # lost: addresses that are not in the core. programs: of which files all that runs notes itself.
  def initialize(truth, report, lost, programs = PROGRAMS)
    @truth, @report, @lost = truth, report, lost
    @program = /(\A|\/)(#{programs.join('|')})\.rb\z/
    @differences = []
    @frames = 0
  end

  def run
    @differences << "the interpreter's function is #{@report['interpreter'].inspect}" unless CERTAIN.include?(@report.dig("interpreter", "found_by"))
    fibers = @report["fibers"].to_h { |fiber| [fiber["object"], fiber] }
    @report["fibers"].each { |fiber| whole(fiber) unless lost?(fiber) }
    @truth["stacks"].each do |told|
      fiber = fibers[told["fiber"]]
      next @differences << "no fiber #{told['fiber']}" unless fiber
      next if lost?(fiber)
      next @differences << "#{fiber['id']}: no stack" unless fiber["stack"]
      order(fiber, told["entries"])
      answered(fiber)
    end
    self
  end

  def lost?(fiber)
    sp = fiber["native"] && fiber["native"].first && fiber["native"].first["sp"]
    at = [sp, fiber["vm_stack"]].compact.map(&:hex)
    @lost.any? { |range| at.any? { |address| range.cover?(address) } }
  end

  private

  # Every frame is in it once, in order, and there is no gap.
  def whole(fiber)
    return unless fiber["native"]
    started(fiber)
    stack = fiber["stack"]
    %w[frame native].each do |kind|
      indexes = stack.map { |step| step[kind] }.compact
      count = fiber[kind == "frame" ? "frames" : "native"].size
      next if indexes == (0...count).to_a
      @differences << "#{fiber['id']}: #{kind}s 0 to #{count - 1} stand in the stack as #{indexes}"
    end
    stack.each { |step| @differences << "#{fiber['id']}: gap: #{step['gap']}" if step["gap"] }
    @differences << "#{fiber['id']}: #{fiber['native_problem']}" if fiber["native_problem"]
  end

  # What started a stack is outside of all that runs in it, including libruby's
  # own part of that.
  def started(fiber)
    outermost = fiber["stack"].rindex { |step| entered?(fiber, step) } or return
    inside, outside = fiber["stack"].partition.with_index { |_, at| at <= outermost }.map do |steps|
      steps.map { |step| step["native"] && fiber["native"][step["native"]] }.compact
    end
    wrong = inside.find { |frame| STARTS.include?(frame["function"]) }
    @differences << "#{fiber['id']}: #{wrong['function']} stands inside the outermost block or method" if wrong
    return if outside.first && outside.first["function_start"] == @report.dig("interpreter", "function")
    @differences << "#{fiber['id']}: the outermost block or method stands in #{outside.first.inspect}"
  end
  # Whether the frame has VM_FRAME_FLAG_FINISH: C entered the interpreter for it.
  # Whether VM_FRAME_FLAG_FINISH is right, and why Ruby code was run.
  def entered?(fiber, step)
    frame = step["frame"] && fiber["frames"][step["frame"]]
    frame && frame["kind"] == "ruby" && frame["flags"].hex & 0x20 != 0
  end

  def order(fiber, told)
    woven = fiber["stack"].map { |step| entry(fiber, step) }.compact
    @frames += woven.size
    return if woven == told
    at = (0..told.size).find { |i| woven[-1 - i] != told[-1 - i] }
    @differences << "#{fiber['id']}: of #{told.size} entries the #{at}. from outside is #{told[-1 - at].inspect}, " \
                    "rcore's is #{woven[-1 - at].inspect} (of #{woven.size}); before it #{told[told.size - at, 3].inspect}"
  end

  def entry(fiber, step)
    if step["native"]
      frame = fiber["native"][step["native"]]
      ["native", DEMANGLED.fetch(frame.values_at("function", "symbol"), frame["function"])] if frame["module"] =~ OURS && !UNLOGGED.include?(frame["function"])
    elsif step["frame"]
      frame = fiber["frames"][step["frame"]]
      ["ruby", frame["native_label"] || frame["label"]] if frame["path"] =~ @program
    end
  end

  # A method in C stands just outside its function, unless that made a tail call and is
  # gone; one of which a part without a name runs, outside that; a block in C outside that of the extension.
  def answered(fiber)
    starts = fiber["native"].reject { |native| native["inlined"] }.group_by { |native| native["function_start"] }
    stretches(fiber).each do |number, inner|
      frame = fiber["frames"][number]
      what = "#{fiber['id']}: frame #{number}, #{frame['label'] || frame['kind']},"
      if frame["kind"] == "cfunc" && inner.none? { |native| native["function_start"] == frame["cfunc"] }
        @differences << "#{what} is not around its function" if starts.key?(frame["cfunc"]) || frame["label"] =~ /\AWeave/
        ours = inner.last
        @differences << "#{what} is not around its part, but around #{ours}" if frame["label"] =~ COLD && ours&.values_at("module", "function") != ["cold_path.so", nil]
      elsif frame["kind"] == "ifunc"
        ours = inner.reverse.find { |native| native["module"] =~ OURS }
        @differences << "#{what} stands around #{ours['function']}" unless ours.nil? || BLOCKS.include?(ours["function"])
      end
    end
  end

  # Each Ruby frame with the native ones between it and the next one inwards.
  def stretches(fiber)
    inner = []
    fiber["stack"].each_with_object([]) do |step, found|
      inner << fiber["native"][step["native"]] if step["native"]
      next unless step["frame"]
      found << [step["frame"], inner]
      inner = []
    end
  end
end
