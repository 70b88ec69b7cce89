# SPDX-License-Identifier: MIT
require "fileutils"

# Other samplers, as gems in a folder of their own. Ruby 3.1 runs no vernier: it needs Ruby 3.2.
module Peers
  GEMS = { "pyroscope" => "1.1.7", "stackprof" => "0.2.28" }.freeze
  FOLDER = File.join(ENV["RCORE_CACHE"] || File.join(ENV["XDG_CACHE_HOME"] || File.expand_path("~/.cache"), "rcore"), "bench", "peers")

  module_function

  def installed?(name) = Dir[File.join(FOLDER, "gems", "#{name}-#{GEMS.fetch(name)}*")].any?

  def missing = GEMS.reject { |name, _| installed?(name) }.map { |name, version| "#{name} #{version} (tests/bench/peers installs it)" }

  def environment = { "GEM_PATH" => [FOLDER, *Gem.path].join(":") }
end
