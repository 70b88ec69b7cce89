# SPDX-License-Identifier: MIT
require_relative "../truth/twins"
require_relative "emulated"

# The rcores that `make aarch64` and `make aarch64-static` built, and the
# commands that run them.
module CrossBuilt
  FOLDER = File.join(File.dirname(Suite::RCORE), "aarch64")
  LIBRARIES = File.join(TestRuby::CACHE, "libraries/aarch64")
  COMMAND = [EmulatedRuby::EMULATOR, "-L", LIBRARIES, File.join(FOLDER, "rcore")].freeze
  STATIC = [EmulatedRuby::EMULATOR, File.join(FOLDER, "static/rcore")].freeze
end
