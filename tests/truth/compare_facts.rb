# SPDX-License-Identifier: MIT

# Compares what the VM as a whole is doing.
class CompareFacts
  Compare::MORE << self

  def initialize(truth, report)
    @told, @facts = truth["facts"], report["facts"] || {}
    @differences = []
  end

  def run
    same("description", @told["description"], @facts["description"])
    same("JIT", @told["description"][/\+([A-Z]*JIT)/, 1].to_s.sub(/\AJIT\z/, "MJIT"), @facts["jit"].to_s)
    same("ARGV", @told["argv"], @facts["argv"].to_a.map { |word| word["text"] })
    same("RUBYOPT", @told["rubyopt"], @facts["rubyopt"])
    same("gems", @told["gems"], @facts["gems"].to_h { |gem| gem.values_at("name", "version") })
    same("ractors", @told["ractors"], @facts["ractors"])
    same("GC running", @told["in_gc"], !!@facts.dig("gc", "running"))
    same("problem", nil, @facts["problem"])
    @differences
  end

  private

  def same(what, told, reported)
    @differences << "facts: #{what}: Ruby says #{told.inspect}, rcore #{reported.inspect}" unless told == reported
  end
end
