# SPDX-License-Identifier: MIT
require "zlib"

# When rcore looked at the threads of a recording (docs/recording.md). A sample that is like the previous one is added to it, so only
# those ticks are known at which a thread's samples changed.
class Ticks
  # Nanoseconds since 1970: two ticks, of which only the second one saw the change.
  Gap = Struct.new(:from, :to) do
    def seconds
      (to - from) / 1e9
    end
  end

  MAGIC = "RCOREREC"
  HEAD = { file: 16, block: 24 }.freeze
  SAMPLES = 11
  COLUMNS = %i[time wall cpu node thread fiber state labels count].freeze

  attr_reader :gaps

  # started: the fact of this name.
  def initialize(path, started)
    @begun = (Rational(started) * 1_000_000_000).to_i
    @samples = samples(File.binread(path))
    @gaps = @samples.group_by { |sample| [sample[:thread], sample[:fiber]] }.each_value.flat_map { |own| gaps_of(own) }
    @gaps = @gaps.uniq(&:to).sort_by(&:to)
  end

  # How long rcore did not look around these moments (seconds since 1970).
  def around(*moments)
    @gaps.select { |gap| moments.any? { |moment| (moment * 1e9).between?(gap.from, gap.to) } }.sum(&:seconds)
  end

  # How many samples with equal CPU times would be as exact as these. On a busy machine, rcore takes fewer samples, and some represent
  # much more time than others.
  def weighed
    busy = @samples.select { |sample| sample[:cpu].positive? }
    busy.sum { |sample| sample[:cpu] }**2 / busy.sum { |sample| sample[:cpu]**2 / sample[:count].to_f }
  end

  private

  # A sample represents half of the time since the previous tick, and half of the time until the next one; the first one of a thread
  # begins with its tick. Once a second, a sample ends early, and that gap seems twice as long.
  def gaps_of(samples)
    before = 0
    samples.sort_by { |sample| sample[:time] }.each_cons(2).map do |sample, following|
      gap = 2 * (following[:time] - sample[:time] - sample[:wall]) + before
      before = gap
      Gap.new(@begun + following[:time] - gap, @begun + following[:time])
    end
  end

  def samples(bytes)
    raise Debuggee::Failed, "no recording" unless bytes.start_with?(MAGIC)
    at = HEAD[:file]
    found = []
    while (head = bytes.byteslice(at, HEAD[:block])) && head.bytesize == HEAD[:block]
      _, kind, coding, size = head.unpack("a4S<S<L<")
      payload = bytes.byteslice(at + HEAD[:block], size)
      at += HEAD[:block] + size
      found.concat(records(coding == 1 ? Zlib.inflate(payload) : payload)) if [1, 2].include?(kind)
    end
    found
  end

  # Those of all its sections of samples.
  def records(payload)
    found, at = [], 0
    while at < payload.bytesize
      tag, at = number(payload, at)
      size, at = number(payload, at)
      found.concat(columns(payload.byteslice(at, size))) if tag == SAMPLES
      at += size
    end
    found
  end

  def columns(content)
    count, at = number(content, 0)
    lists = COLUMNS.map do
      value = 0
      Array.new(count) do
        coded, at = number(content, at)
        value += coded.odd? ? -(coded + 1) / 2 : coded / 2
      end
    end
    lists.transpose.map { |values| COLUMNS.zip(values).to_h }
  end

  # LEB128: the number, and where the next one begins.
  def number(bytes, at)
    value = shift = 0
    loop do
      byte = bytes.getbyte(at)
      at += 1
      value |= (byte & 127) << shift
      shift += 7
      return value, at if byte < 128
    end
  end
end
