# SPDX-License-Identifier: MIT
require "etc"
require "rbconfig"

# The first line of a benchmark: the date, the machine, and how busy it is.
# Figures mean little without these, so a page that quotes figures quotes these,
# too.
module Conditions
  module_function

  def line(rcore)
    model = File.read("/proc/cpuinfo")[/^model name\s*: (.*)/, 1] || RbConfig::CONFIG["host_cpu"]
    "#{Time.now.strftime("%Y-%m-%d")}, #{`#{rcore} --version`.chomp}, #{model}, #{Etc.nprocessors} processors, " \
      "Linux #{Etc.uname[:release]}, Ruby #{RUBY_VERSION}, load average #{File.read("/proc/loadavg").split.first}"
  end
end
