# SPDX-License-Identifier: MIT
require "open3"

# A deep stack as text: both ends, the recursion once with its count.
class Folded
  LINES = 60
  ENDS = { "native" => %w[overflow_deeper Weave.overflow Weave.yield <main>], "yield" => %w[Weave.die Weave.yield <main>] }.freeze
  REPEATED = /the same (?:frame|(\d+) frames) ([\d,]+) more times/

  def initialize(job, core, report)
    @variant, @core = job.variant, core
    @files = job.ruby.files
    @fiber = report["fibers"].find { |fiber| fiber["current"] && fiber["root"] }
  end

  def run
    text, = Open3.capture2(Suite::RCORE, "analyze", @core, *@files)
    text = text.scrub
    shown = text[/^\* #{@fiber['id']}.*?(?=^T\d|\z)/m].to_s.lines
    differences = []
    differences << "#{shown.size} lines are shown" if shown.size > LINES
    ENDS[@variant].each { |word| differences << "#{word} is not shown" unless shown.any? { |line| line.include?(word) } }
    seen = repeated(shown)
    differences << "#{seen} frames are folded, of #{deep} repeated" unless seen && (deep - seen).between?(0, 12)
    differences
  end

  private

  # Rows of the recursion: the native frames of overflow_deeper, or what is Ruby's of a round.
  def deep
    return @fiber["native"].count { |frame| frame["function"] == Order::UNLOGGED } if @variant == "native"
    @fiber["frames"].count { |frame| frame["label"] == "Weave.yield" }
  end

  def repeated(shown)
    line = shown.grep(REPEATED).first or return
    line[REPEATED, 2].delete(",").to_i
  end
end
