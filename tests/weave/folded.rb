# SPDX-License-Identifier: MIT
require "open3"

# A deep stack as text: both ends, each recursion once with its count, and for a
# stack that overflowed, whose it was.
class Folded
  LINES = 60
  REPEATED = /the same (?:frame|(\d+) frames) ([\d,]+) more times/
  # By variant: whose stack overflowed, the C function and the method that are
  # called again and again, and what is outside of them.
  Case = Struct.new(:whose, :function, :label, :outer)
  CASES = {
    "native" => Case.new("the main thread T1, fiber T1.F0", /\Aoverflow_deeper\z/, nil, %w[Weave.overflow Weave.yield <main>]),
    "smallest" => Case.new("the main thread T1, fiber T1.F0", /\Aoverflow_smallest\z/, nil, %w[Weave.overflow Weave.yield <main>]),
    "mutual" => Case.new("the main thread T1, fiber T1.F0", /\Aoverflow_(mutual|other)\z/, nil, %w[Weave.overflow Weave.yield <main>]),
    "yield" => Case.new(nil, nil, "Weave.yield", %w[Weave.die <main>]),
    "rounds" => Case.new("the main thread T1, fiber T1.F0", /\Aoverflow_deeper\z/, "Weave.large", %w[Weave.overflow <main>]),
    "fiber" => Case.new("fiber T1.F1", /\Aoverflow_deeper\z/, "Weave.large", %w[Weave.overflow in_fiber]),
    "thread" => Case.new("thread T2, fiber T2.F0", /\Aoverflow_deeper\z/, "Weave.large", %w[Weave.overflow in_thread]),
    "fiber_of_thread" => Case.new("fiber T2.F1", /\Aoverflow_deeper\z/, "Weave.large", %w[Weave.overflow in_fiber]),
  }.freeze

  def initialize(job, core, report)
    @case, @core, @files, @cause = CASES.fetch(job.variant), core, job.ruby.files, report["cause"]
    @fiber = report["fibers"].find { |fiber| fiber["id"] == @cause["fiber"] } || {}
  end

  def run
    extensions = File.expand_path("../ext", File.dirname(@core))
    text, = Open3.capture2(Suite::RCORE, "analyze", @core, *@files, "--lib-search-path", extensions)
    text = text.scrub
    shown = text[/^\* #{@fiber['id']}.*?(?=^ *T\d|\z)/m].to_s.lines
    differences = []
    differences << "#{shown.size} lines are shown" if shown.size > LINES
    @case.outer.each { |word| differences << "#{word} is not shown" unless shown.any? { |line| line.include?(word) } }
    differences.concat(verdict(text)).concat(folds(shown))
  end

  private

  def verdict(text)
    return @cause["stack_overflow"] ? ["no stack ran over: #{@cause['text']}"] : [] unless @case.whose
    at = @cause["address"] ? "address #{@cause['address']}" : "its stack pointer #{@fiber.dig('native', 0, 'sp')}"
    words = "Killed by SIGSEGV: stack overflow of #{@case.whose}: #{at} is "
    text.include?(words) ? [] : ["not told: #{words}: #{@cause['text']}"]
  end

  # Each recursion, innermost first: what repeats is counted, except a few rows
  # at its ends.
  def folds(shown)
    told = [@case.function && count("native", "function"), @case.label && count("frames", "label")].compact
    seen = shown.grep(REPEATED).map { |line| line =~ REPEATED && [($1 || 1).to_i, $2.delete(",").to_i] }
    return ["folds are #{seen}, repeated are #{told}"] unless seen.size == told.size
    told.zip(seen).reject { |all, (period, times)| (all - times * per_round(period, all)).between?(1, 16) }
        .map { |all, (period, times)| "of #{all} repeated, #{period} frames are folded #{times} times" }
  end

  def count(part, key)
    pattern = part == "native" ? @case.function : @case.label
    @fiber[part].to_a.count { |frame| pattern === frame[key] }
  end

  # Of the frames of a round, those that are counted: all of C's own recursion, one of Ruby's.
  def per_round(period, all)
    @case.label && all == count("frames", "label") ? 1 : period
  end
end
