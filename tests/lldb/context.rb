# SPDX-License-Identifier: MIT
# Sets the context of the current fiber with the gem ruby-profiler. If Ruby is too old for the gem, an
# extension stores it in the same way.
require "fiber"

begin
  require RUBY_VERSION >= "3.2" ? "ruby/profiler" : File.join(__dir__, "profiler_state")
rescue LoadError
  raise if ENV["CONTEXTS"] == "needed"
end

def context(**pairs)
  Ruby::Profiler::State.new(**pairs).apply! if defined?(Ruby::Profiler::State)
end
