# SPDX-License-Identifier: MIT
require_relative "ext/weave_ext"

# Stacks too deep to be shown whole: a C function that calls itself until the stack is
# full, and 3,000 blocks that C yields to, each within the other.
def deeper(left)
  Weave.note
  return Weave.die if left == 0
  Weave.yield { Weave.note; deeper(left - 1) }
end

Weave.start
Weave.note
ARGV == ["native"] ? Weave.yield { Weave.note; Weave.overflow } : deeper(3000)
