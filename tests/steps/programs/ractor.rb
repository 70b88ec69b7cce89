# SPDX-License-Identifier: MIT
#: since=3.0
require_relative "../marker"

# Ractors that take messages and end.
Warning[:experimental] = false

def result(ractor)
  ractor.respond_to?(:value) ? ractor.value : ractor.take
end

def round
  other = Ractor.new do
    number = Ractor.receive
    [number].map { |item| item + 1 }
  end
  other.send(1)
  result(other)
end

rounds = 0
while rounds < Steps::ROUNDS
  Steps.mark
  round
  rounds += 1
end
