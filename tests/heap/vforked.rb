# SPDX-License-Identifier: MIT
# The main thread waits as in vfork(), where it cannot be stopped. Unlike after vfork(), the child has memory of its own, and it
# lives as long as its parent.
CLONE, PRCTL = RUBY_PLATFORM.start_with?("aarch64") ? [220, 167] : [56, 157]
CLONE_VFORK, SIGCHLD, PR_SET_PDEATHSIG, SIGKILL = 0x4000, 17, 1, 9
$stdout.puts "ready"
$stdout.flush
if syscall(CLONE, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0).zero?
  syscall(PRCTL, PR_SET_PDEATHSIG, SIGKILL)
  sleep
end
