# SPDX-License-Identifier: MIT
# Threads that differ only in the depth of a recursion, or in the line of the innermost frame; and some that differ in more.
require_relative "counting"

QUEUE = Queue.new

def recurse(depth)
  depth.zero? ? QUEUE.pop : recurse(depth - 1)
end

def at_line(number)
  case number
  when 0
    QUEUE.pop
  when 1
    QUEUE.pop
  else
    QUEUE.pop
  end
end

def other(number)
  at_line(number)
end

def start(name, count)
  Array.new(count) { |i| Thread.new { yield i }.tap { |thread| thread.name = "#{name} #{i}" } }
end

threads = start("recursion", 5) { |i| recurse(i + 1) }
threads += start("line", 7) { |i| at_line(i % 3) }
threads += start("one", 1) { other(0) }
Thread.pass until threads.all?(&:stop?)
File.write("pid", $$.to_s)
count_forever
