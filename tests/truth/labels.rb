# SPDX-License-Identifier: MIT

# What the newest Ruby's backtrace prints for the frames of a stack, if this
# Ruby's own backtrace has no names of classes. It comes from the fixture's
# rehearsal.
class Labels
  # rehearsal: [[frames, labels], ...], innermost first; a frame is [path, line, label].
  def initialize(rehearsal)
    @stacks = Hash.new { |hash, frames| hash[frames] = [] }
    @frames = Hash.new { |hash, frame| hash[frame] = [] }
    rehearsal.each do |frames, labels|
      next unless frames
      frames = frames.map { |frame| frame.first(3) }
      @stacks[frames] |= [labels]
      frames.zip(labels) { |frame, label| @frames[frame] |= [label].compact }
    end
  end

  # Returns labels and nils. If the TracePoint adds a frame to a call that
  # otherwise has none, the stack was not rehearsed, but its frames were.
  def of(frames)
    stacks = @stacks.fetch(frames, [])
    return stacks.first if stacks.size == 1
    frames.map { |frame| @frames[frame].first if @frames[frame].size == 1 }
  end
end
