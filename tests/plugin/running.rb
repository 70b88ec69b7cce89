# SPDX-License-Identifier: MIT
require_relative "../truth/rubies"
require_relative "../truth/suite"

# One of programs/ on a Ruby, while a block runs. It writes its process id to the file "pid".
class RunningProgram < Debuggee
  PROGRAMS = File.join(__dir__, "programs")

  def initialize(ruby, name)
    @workshop = Workshop.new(ruby, PROGRAMS)
    fixture = Fixture.new(name, PROGRAMS)
    super(ruby, fixture, nil, :abort, @made = @workshop.make(fixture))
  end

  # ready: the file that it writes when the block may begin.
  def run(ready, *arguments)
    @variant = arguments
    @spawned = spawn_ruby("")
    wait_until(ready) { File.exist?(path(ready)) }
    yield self
  ensure
    Child.signal(:KILL, pid) if File.exist?(path("pid"))
    Child.stop(@spawned) if @spawned
    @workshop.remove(@made)
    @workshop.close
  end

  # Waits until each thread sleeps in the call in which it stays.
  def rest
    wait_until("threads that stay asleep") { settled?(pid, :sleep) }
  end

  def pid
    Integer(File.read(path("pid")))
  end

  def file(name)
    path(name)
  end
end
