# SPDX-License-Identifier: MIT
require_relative "suite"

# The truth test with more builds of rcore, its twins. Each must print what
# RCORE prints, byte for byte.
class TwinSuite < Suite
  # twins: {"as cross-built" => [WORD ...], ...}: how to say that it is one, and what runs it.
  def initialize(program, twins, *arguments, **options)
    super(program, *arguments, **options)
    @twins = twins
  end

  def run
    missing = @twins.values.map(&:last).reject { |file| File.executable?(file) }
    abort "#{@program}: no #{missing.first}: `make aarch64 static aarch64-static` builds it" unless missing.empty?
    super
  end

  private

  def ask(arguments, differences)
    own = super
    @twins.each do |name, command|
      twin = Open3.capture3(*command, *arguments, binmode: true)
      differences.concat(unlike(own, twin).map { |line| "#{name}: #{line}" })
    end
    own
  end

  def unlike(own, twin)
    here, there = [own, twin].map { |out, err, status| [*out.lines, *err.lines, "status #{status.exitstatus || status}"] }
    return [] if here == there
    index = here.zip(there).index { |one, other| one != other } || here.size
    ["#{there[index].inspect} instead of #{here[index].inspect}"]
  end
end
