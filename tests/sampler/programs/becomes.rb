# SPDX-License-Identifier: MIT
# Forks children that work, and becomes another Ruby itself:
#
#	becomes.rb KIND    exit, exec or fork

# Counts the time on a processor, because rcore needs longer to find the program
# on a busy machine.
def work(seconds)
  begun = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
  x = 0
  x += 1 while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) - begun < seconds
end

def child_work
  work(2)
end
def before_exec
  work(1)
end
def after_exec
  work(2)
end

case ARGV[0]
when "exit" then work(1)
when "exec"
  before_exec
  exec(File.join(RbConfig::CONFIG["bindir"], RbConfig::CONFIG["ruby_install_name"]), __FILE__, "after")
when "after" then after_exec
when "fork"
  3.times { fork { child_work } }
  Process.waitall
end
