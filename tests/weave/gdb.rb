# SPDX-License-Identifier: MIT
require "open3"

# The native stacks of a core's threads as gdb unwinds them.
class Gdb
  class Failed < StandardError; end

  PRINT = <<-PYTHON
import gdb
for thread in gdb.selected_inferior().threads():
    thread.switch()
    pcs = []
    frame = gdb.newest_frame()
    while frame is not None:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            pcs.append(hex(frame.pc()))
        try:
            frame = frame.older()
        except gdb.error:
            frame = None
    print('thread', thread.ptid[1], ' '.join(pcs))
  PYTHON

  def initialize(ruby, core)
    @ruby, @core = ruby, core
  end

  # `order` knows which stacks are not in the core.
  def compare(report, order)
    reported = stacks_of(report)
    stacks.flat_map do |tid, told|
      owner = reported[tid] or next ["thread #{tid}: gdb has it, rcore has no stack"]
      # A fiber's stack ends with a return address of 0, which gdb reports as one more frame.
      told = told[0..-2] if told.last == "0x0"
      seen = owner["native"].reject { |frame| frame["inlined"] }.map { |frame| frame["pc"] }
      next [] if seen == told || order.lost?(owner)
      at = told.zip(seen).index { |a, b| a != b } || told.size
      ["thread #{tid}: frame #{at} is at #{told[at].inspect} of gdb's #{told.size} frames, and at #{seen[at].inspect} of rcore's #{seen.size}"]
    end
  end

  private

  def stacks_of(report)
    fibers = report["fibers"].to_h { |fiber| [fiber["id"], fiber] }
    rows = report["threads"].reject { |thread| thread["ended"] }.map { |thread| [thread["tid"], fibers[thread["current_fiber"]]] }
    rows += report["other_threads"].map { |thread| [thread["tid"], thread] }
    rows.select { |_, owner| owner && owner["native"] }.to_h
  end

  def stacks
    root = @ruby.root.empty? ? "/" : @ruby.root
    script = "#{@core}.py"
    File.write(script, PRINT)
    out, err, = Open3.capture3("gdb", "-batch", "-nx", "-ex", "set sysroot #{root}",
                               "-ex", "set debuginfod enabled off", "-ex", "set auto-load off",
                               "-ex", "set backtrace past-main on", "-ex", "set backtrace past-entry on",
                               "-ex", "set backtrace limit unlimited",
                               "-ex", "file #{@ruby.outside(@ruby.program)}",
                               "-ex", "core-file #{@core}", "-ex", "source #{script}")
    found = out.scan(/^thread (\d+) (.*)$/).to_h { |tid, pcs| [tid.to_i, pcs.split] }
    raise Failed, "gdb shows no thread: #{err.lines.first(5).join}" if found.empty?
    found
  end
end
