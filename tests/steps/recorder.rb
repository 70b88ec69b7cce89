# SPDX-License-Identifier: MIT

# Records the stack at the start of each line of a program (-r recorder.rb): what is printed for it by this
# Ruby itself. Each stack is a line of the file STEPS_RECORD, once.
program = File.expand_path($0)
stacks = {}
trace = TracePoint.new(:line) do |point|
  next unless point.path == program
  frames = caller_locations(1)
  stacks[frames.map { |frame| "#{frame.path}:#{frame.lineno}:#{frame.label}" }.join("\t")] = true
end
at_exit do
  trace.disable
  File.write(ENV["STEPS_RECORD"], stacks.keys.map { |line| "#{line}\n" }.join)
end
trace.enable
