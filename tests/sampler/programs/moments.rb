# SPDX-License-Identifier: MIT
# Works until SIGUSR1 comes, and then does what is asked of it:
#
#	moments.rb KIND
KIND = ARGV[0]
RUBY = [File.join(RbConfig::CONFIG["bindir"], RbConfig::CONFIG["ruby_install_name"]), "--disable-gems"].freeze
go = false
trap("USR1") { go = true }

def work
  100.times { |i| i.to_s }
end

def after_main
  loop do
    work
    sleep 0.001
  end
end

# Ends the main thread of the process, while others continue. Fiddle releases the
# GVL before it calls a function.
def end_main_thread
  require "fiddle"
  Fiddle::Function.new(Fiddle::Handle::DEFAULT["pthread_exit"], [Fiddle::TYPE_VOIDP], Fiddle::TYPE_VOID).call(nil)
end

def act
  case KIND
  when "exit" then exit!(0)
  when "raise" then exit(1)
  when "exec" then exec(*RUBY, "-e", "sleep 30")
  when "thread" then Thread.new { exec(*RUBY, "-e", "sleep 30") }.join
  when "other" then exec("sleep", "30")
  when "short" then exec("sleep", "0.1")
  when "fork" then 2.times { fork { sleep 0.1 } }
  when "main" then end_main_thread
  end
end

require "fiddle" if KIND == "main"
2.times { Thread.new { after_main } }
File.write("pid", $$.to_s)
File.write("counter", "1")
until go
  work
  sleep 0.001
end
act
sleep 30
