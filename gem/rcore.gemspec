# frozen_string_literal: true
# SPDX-License-Identifier: MIT

# `make gem` and `make source-gem` copy this into a folder with what the gem contains, and set what differs: the
# source gem has no platform.
Gem::Specification.new do |spec|
  spec.name = "rcore"
  spec.version = ENV.fetch("RCORE_VERSION")
  spec.summary = "Prints what a Ruby process is doing, or was doing when it died"
  spec.description = "rcore reads core files and running processes of CRuby. It prints every thread and every fiber, with Ruby " \
                     "and native frames in one stack, what each waits for, and why the process died. It works on stripped Rubies."
  spec.authors = ["the rcore authors"]
  spec.license = "MIT"
  spec.required_ruby_version = ">= 2.6"
  spec.files = Dir["**/*"].select { |file| File.file?(file) && file != "rcore.gemspec" }.sort
  spec.bindir = "exe"
  spec.executables = ["rcore"]
  spec.metadata = { "rubygems_mfa_required" => "true" }
  if ENV["RCORE_PLATFORM"]
    spec.platform = Gem::Platform.new(ENV["RCORE_PLATFORM"])
  else
    spec.extensions = ["ext/extconf.rb"]
  end
end
