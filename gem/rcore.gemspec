# frozen_string_literal: true
# SPDX-License-Identifier: MIT

# `make gem` copies this into a folder with what the gem contains, and sets what differs between machines.
Gem::Specification.new do |spec|
  spec.name = "rcore"
  spec.version = ENV.fetch("RCORE_VERSION")
  spec.platform = Gem::Platform.new(ENV.fetch("RCORE_PLATFORM"))
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
end
