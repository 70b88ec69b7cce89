# SPDX-License-Identifier: MIT
#
# Loads Ruby::Profiler::State of the gem ruby-profiler or, if the Ruby lacks the gem, of the extension that stands in for it.
require "fiber"
begin
  require "ruby/profiler"
rescue LoadError
  require_relative "ext/profiler_state"
end
