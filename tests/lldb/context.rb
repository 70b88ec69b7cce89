# SPDX-License-Identifier: MIT
# What the program works for, as the gem ruby-profiler keeps it; where Ruby is too old for the gem, an
# extension that keeps its contract.
require "fiber"

begin
  require RUBY_VERSION >= "3.2" ? "ruby/profiler" : File.join(__dir__, "profiler_state")
rescue LoadError
  raise if ENV["CONTEXTS"] == "needed"
end

def context(**pairs)
  Ruby::Profiler::State.new(**pairs).apply! if defined?(Ruby::Profiler::State)
end
