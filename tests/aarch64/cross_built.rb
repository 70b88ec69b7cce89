# SPDX-License-Identifier: MIT
require_relative "../truth/suite"
require_relative "emulated"

# The truth test with a second rcore: `make aarch64` built it, and the emulator runs it.
class CrossBuiltSuite < Suite
  PROGRAM = File.join(File.dirname(RCORE), "aarch64/rcore")
  LIBRARIES = File.join(TestRuby::CACHE, "libraries/arm64")
  COMMAND = [EmulatedRuby::EMULATOR, "-L", LIBRARIES, PROGRAM].freeze

  def run
    abort "#{@program}: no #{PROGRAM}: run `make aarch64` first" unless File.executable?(PROGRAM)
    super
  end

  private

  def ask(arguments, differences)
    native = super
    emulated = Open3.capture3(*COMMAND, *arguments, binmode: true)
    differences.concat(unlike(native, emulated).map { |line| "as cross-built: #{line}" })
    native
  end

  def unlike(native, emulated)
    here, there = [native, emulated].map { |out, err, status| [*out.lines, *err.lines, "status #{status.exitstatus || status}"] }
    return [] if here == there
    index = here.zip(there).index { |one, other| one != other } || here.size
    ["#{there[index].inspect} instead of #{here[index].inspect}"]
  end
end
