# SPDX-License-Identifier: MIT
require "fileutils"

# Other samplers, and readers of heap dumps, as gems in a folder of their own. vernier needs Ruby 3.2, a C++ compiler and
# the headers of Ruby.
module Peers
  SAMPLERS = { "pyroscope" => "1.1.7", "stackprof" => "0.2.28", "vernier" => "1.12.0" }.freeze
  READERS = { "heapy" => "0.2.0", "sheap" => "0.3.0", "heap-profiler" => "0.9.0" }.freeze
  GEMS = SAMPLERS.merge(READERS).freeze
  LEAST_RUBY = { "vernier" => "3.2" }.freeze
  FOLDER = File.join(ENV["RCORE_CACHE"] || File.join(ENV["XDG_CACHE_HOME"] || File.expand_path("~/.cache"), "rcore"), "bench", "peers")

  module_function

  def installed?(name) = Dir[File.join(FOLDER, "gems", "#{name}-#{GEMS.fetch(name)}*")].any?

  def runs_here?(name) = Gem::Version.new(RUBY_VERSION) >= Gem::Version.new(LEAST_RUBY.fetch(name, "0"))

  def missing(gems)
    gems.reject { |name, _| installed?(name) }.map do |name, version|
      "#{name} #{version} (#{runs_here?(name) ? "tests/bench/peers installs it" : "it needs Ruby #{LEAST_RUBY[name]}"})"
    end
  end

  def environment = { "GEM_PATH" => [FOLDER, *Gem.path].join(":") }
end
