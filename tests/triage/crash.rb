# SPDX-License-Identifier: MIT
require "json"
require_relative "../truth/rubies"
require_relative "../truth/fixture"
require_relative "../truth/workshop"
require_relative "../truth/debuggee"

# A program of tests/triage/programs, or a folder like it, that runs on a Ruby until it dies of what its first argument
# names. It leaves a core, and says what it did beforehand in truth.json.
class Crash < Debuggee
  PROGRAMS = File.expand_path("programs", __dir__)

  # Yields a Workshop for that Ruby.
  def self.workshop(ruby, programs = PROGRAMS)
    workshop = Workshop.new(ruby, programs)
    yield workshop
  ensure
    workshop.close
  end

  # Yields a crash of the program with its core, in a folder of its own that goes then. environment: for the
  # program; edit: is called with the folder before it runs; filter: its coredump_filter; producer: who writes
  # the core, "kernel" where the program dies, "gcore" or "gdb" (its generate-core-file) where it waits.
  def self.of(workshop, ruby, name, variant, environment: {}, edit: nil, filter: nil, producer: "kernel")
    fixture = Fixture.new(name, workshop.fixtures)
    folder = workshop.make(fixture)
    edit&.call(ruby.outside(folder))
    crash = new(ruby, fixture, variant, :abort, folder)
    crash.environment = environment
    crash.filter = filter
    yield(producer == "kernel" ? crash.die_once : crash.wait_for(producer))
  ensure
    workshop.remove(folder) if folder
  end

  attr_writer :environment, :filter

  def die_once
    Debuggee.kernel_cores? ? die : die_under_gdb
    self
  end

  def wait_for(producer)
    pid = spawn_ruby(nil)
    wait_until("truth.json") { File.exist?(path("truth.json")) }
    process = read("truth.json")["pid"]
    core = path("core.#{process}")
    gdb = ["gdb", "-nx", "-q", "-batch", "-p", process.to_s, "-ex", "generate-core-file #{core}"]
    take_gcore(process, *(gdb unless producer == "gcore"))
    self
  ensure
    Child.stop(pid, process || pid) if pid
  end

  def truth
    @truth ||= File.exist?(path("truth.json")) ? read("truth.json") : {}
  end

  # The options that rcore needs besides the core.
  def files
    [*@ruby.files, "--lib-search-path", File.expand_path("../ext", File.dirname(core))]
  end

  private

  def command(_truth)
    command = @ruby.command([*@fixture.flags, "-W0", "main.rb", *@variant], directory: @inside, environment: @fixture.environment.merge(@environment))
    @filter ? ["/bin/sh", "-c", 'echo "$0" >/proc/self/coredump_filter && exec "$@"', @filter, *command] : command
  end
end
