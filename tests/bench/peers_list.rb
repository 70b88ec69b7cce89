# SPDX-License-Identifier: MIT
require "fileutils"
require "rbconfig"

# Other samplers, and readers of heap dumps, as gems in a folder of their own.
# vernier needs Ruby 3.2. If this machine's Ruby is older, vernier is measured
# in the Ruby of Debian 13, in a folder to chroot into.
module Peers
  SAMPLERS = { "pyroscope" => "1.1.7", "stackprof" => "0.2.28", "vernier" => "1.12.0" }.freeze
  READERS = { "heapy" => "0.2.0", "sheap" => "0.3.0", "heap-profiler" => "0.9.0" }.freeze
  GEMS = SAMPLERS.merge(READERS).freeze
  LEAST_RUBY = { "vernier" => "3.2" }.freeze
  FOLDER = File.join(ENV["RCORE_CACHE"] || File.join(ENV["XDG_CACHE_HOME"] || File.expand_path("~/.cache"), "rcore"), "bench", "peers")

  NEWER_SUITE = "trixie"
  NEWER_RUBY = File.join(FOLDER, NEWER_SUITE)

  module_function

  def installed?(name)
    folders = runs_here?(name) ? File.join(FOLDER, "gems") : File.join(NEWER_RUBY, "var/lib/gems/*/gems")
    Dir[File.join(folders, "#{name}-#{GEMS.fetch(name)}*")].any?
  end

  def runs_here?(name) = Gem::Version.new(RUBY_VERSION) >= Gem::Version.new(LEAST_RUBY.fetch(name, "0"))

  def missing(gems)
    gems.reject { |name, _| installed?(name) }.map { |name, version| "#{name} #{version} (tests/bench/peers installs it)" }
  end

  def environment = { "GEM_PATH" => [FOLDER, *Gem.path].join(":") }

  # Returns the command of a Ruby that can load the gem.
  def ruby(name) = runs_here?(name) ? [RbConfig.ruby] : ["chroot", NEWER_RUBY, "/usr/bin/ruby"]
end
