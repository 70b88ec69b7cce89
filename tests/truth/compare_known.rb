# SPDX-License-Identifier: MIT

# What frames know (tests/fixtures/knowing.rb): self, arguments, locals.
class CompareKnown
  Compare::MORE << self

  def initialize(truth, report)
    @known = truth["known"] || []
    @fibers = report["fibers"].to_h { |fiber| [fiber["object"], fiber] }
    @differences = []
  end

  def run
    @known.each { |told| frame(told) }
    @differences
  end

  private

  def same(what, told, reported)
    @differences << "#{what}: Ruby says #{told.inspect}, rcore #{reported.inspect}" unless told == reported
  end

  def frame(told)
    fiber = @fibers[told["fiber"]] or return @differences << "no fiber #{told['fiber']}"
    return if fiber["problem"] # lost with its stack: Compare wants to hear that it is
    shown = fiber["frames"].reject { |frame| frame["native_hidden"] }
    frame = shown[-told["depth"]] or return @differences << "#{fiber['id']} has no frame #{told['depth']}"
    what = "#{fiber['id']} #{frame['label']}"
    same("#{what}: self", told["self"], frame.dig("self_value", "text"))
    same("#{what}: locals", told["locals"], locals(frame))
    same("#{what}: arguments", told["arguments"], arguments(frame)) if told["arguments"]
    problems(what, frame)
  end

  # By name; of several locals with one name, the innermost counts.
  def locals(frame)
    all = frame["arguments"].to_a + frame["locals"].to_a
    all.reject { |local| local["hidden"] }.sort_by.with_index { |local, index| [local["level"] || 0, index] }
       .each_with_object({}) { |local, found| found[local["name"]] ||= local["text"] }
  end

  def arguments(frame)
    frame["arguments"].to_a.map { |local| local.values_at("parameter", "name", "text") }
  end

  def problems(what, frame)
    all = frame["arguments"].to_a + frame["locals"].to_a + [frame["self_value"]]
    @differences.concat(all.flat_map { |each| each.values_at("problem", "name_problem").compact }.map { |text| "#{what}: #{text}" })
    @differences << "#{what}: #{frame['values_problem']}" if frame["values_problem"]
  end
end
