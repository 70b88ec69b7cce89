# SPDX-License-Identifier: MIT
require_relative "../marker"

# Nearly nothing: one activation of the interpreter, and C functions called from it.
rounds = 0
while rounds < Steps::ROUNDS
  Steps.mark
  text = rounds.to_s
  text << "a"
  list = [text, rounds]
  list.push(text.length)
  GC.start if rounds % 64 == 63
  list.first.frozen?
  sleep 0
  rounds += 1
end
