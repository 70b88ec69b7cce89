# frozen_string_literal: true
# SPDX-License-Identifier: MIT

# The command rcore, and what reports the crashes of a test suite.
module Rcore
  FOLDER = File.expand_path("../libexec", __dir__)
  COMMAND = File.join(FOLDER, "bin/rcore")
  # librcore, and the headers to build programs with it.
  LIBRARY = File.join(FOLDER, "lib/librcore.so.0")
  HEADERS = File.join(FOLDER, "include/rcore")
  CI_RUN = File.join(FOLDER, "ci/run")

  # Runs this program again, under ci/run: with core dumps on, and a report of each Ruby that crashes in it.
  # Does nothing in the second run. Call it before the program does anything else.
  def self.watch(reports: ENV.fetch("RCORE_REPORTS", "rcore-reports"))
    return if ENV["RCORE_CI_JOB"]
    unless File.executable?("/bin/bash") && File.readable?("/proc/self/cmdline")
      warn "rcore: needs bash and /proc to report crashes; the suite runs without"
      return
    end
    program, *arguments = [File.readlink("/proc/self/exe"), *File.read("/proc/self/cmdline").split("\0").drop(1)]
    exec({ "RCORE" => COMMAND }, CI_RUN, "-d", reports, program, *arguments)
  end
end
