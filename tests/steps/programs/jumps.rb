# SPDX-License-Identifier: MIT
require_relative "../marker"

# All ways out of a frame: raise, throw, break, next, return from a block, ensure, retry, a jump over C.
class Trouble < StandardError; end

def deep(levels)
  return yield if levels.zero?
  deep(levels - 1) { yield }
ensure
  levels.to_s
end

def leave
  [1, 2].each { |number| return number }
end

def restart
  tries = 0
  begin
    tries += 1
    raise Trouble if tries < 2
    tries
  rescue Trouble
    retry
  else
    tries + 1
  ensure
    tries.to_s
  end
end

def cross
  [3, 1].sort_by { |number| raise Trouble, "#{number}" }
rescue Trouble => error
  error.message
end

def round
  deep(3) { 1 + 1 }
  begin
    deep(2) { raise Trouble, "deep" }
  rescue Trouble => error
    error.backtrace.size
  end
  catch(:out) { deep(2) { throw :out, 1 } }
  [1, 2].each { |number| break number }
  [1, 2].map { |number| next 0 if number == 1 }
  leave
  restart
  cross
  begin
    Integer("x")
  rescue ArgumentError
    0
  end
  loop { raise StopIteration }
  begin
    [1].each { |number| number.fetch }
  rescue NoMethodError
    begin
      raise Trouble
    rescue Trouble
      2
    end
  end
end

rounds = 0
while rounds < Steps::ROUNDS
  Steps.mark
  round
  rounds += 1
end
