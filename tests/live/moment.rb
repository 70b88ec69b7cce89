# SPDX-License-Identifier: MIT

# rcore -p, and rcore on a core that gcore writes of the same process, which is
# stopped all the time, report the same; and it is the truth.
module Moment
  FIXTURES = %w[asleep threads mn_threads waits waits_scheduler fibers enumerators ended ractors deep many_fibers yjit contexts
                locals exceptions storage async].freeze
  # What only the core or only the process has; gdb's note keeps 79 bytes of the
  # arguments.
  APART = %w[source producer live arguments modules].freeze

  def self.cases(rubies)
    Fixture.all.select { |fixture| FIXTURES.include?(fixture.name) }.flat_map do |fixture|
      Draw.of(rubies.select { |ruby| fixture.runs_on?(ruby.version) }, 1, "moment #{fixture.name}").map do |ruby|
        LiveCase.new("moment #{fixture.name} #{ruby.name}") { Moment.test(self, fixture, ruby) }
      end
    end
  end

  def self.test(test, fixture, ruby)
    workshop = Workshop.new(ruby)
    folder = workshop.make(fixture)
    ending = fixture.options["end"] == "sleep" ? :sleep : :stop
    LiveDebuggee.new(ruby, fixture, nil, ending, folder).run do |debuggee|
      live, status = test.report("-p", debuggee.pid, *fixture.analyze)
      next unless live
      compare = Compare.new(debuggee.truth, Labels.new(debuggee.rehearsal), live, ending, []).run(status)
      compare.differences.each { |line| test.fail("truth: #{line}") }
      test.note = "#{compare.frames} frames"
      test.same("stopped", true, live.dig("live", "stopped"))
      no_stop(test, debuggee, fixture, live)
      core(test, debuggee, ruby, fixture, live)
    end
  ensure
    workshop.remove(folder) if folder
    workshop.close if workshop
  end

  # The process stands still by itself, so these Ruby frames are the same.
  def self.no_stop(test, debuggee, fixture, live)
    running, status = test.report("-p", debuggee.pid, "--no-stop", *fixture.analyze)
    return unless running
    test.same("--no-stop: exit status", 0, status)
    test.same("--no-stop: stopped", nil, running.dig("live", "stopped"))
    fibers = [live, running].map { |each| each["fibers"].map { |fiber| without_registers(ruby_only(fiber)) } }
    same_parts(test, "--no-stop", *fibers)
  end

  def self.core(test, debuggee, ruby, fixture, live)
    core, = test.report(debuggee.take_core, *ruby.files, *fixture.analyze)
    return unless core
    lost = debuggee.lost
    parts = (live.keys | core.keys) - APART
    parts -= %w[complete problems groups thread_groups summary other_threads locks deadlocks wait_problem] if lost.any?
    parts.each do |part|
      mine, other = live[part], core[part]
      mine, other = [mine, other].map { |fibers| fibers.map { |fiber| without_open(fiber) } } if part == "fibers"
      mine, other = sound(mine, other) if part == "fibers" && lost.any?
      same_parts(test, "core: #{part}", mine, other)
    end
  end

  # The Ruby stacks of which gdb left no part out of the core.
  def self.sound(mine, other)
    bad = other.select { |fiber| fiber["problem"] || fiber["frames"].any? { |frame| frame["kind"] == "broken" } }
    bad = bad.map { |fiber| fiber["id"] }
    [mine, other].map { |fibers| fibers.reject { |fiber| bad.include?(fiber["id"]) }.map { |fiber| ruby_only(fiber).reject { |name, _| name == "wait" } } }
  end

  # What descriptors are open on is known only for the process.
  def self.without_open(fiber)
    return fiber unless fiber.dig("wait", "fds")
    fds = fiber["wait"]["fds"].map { |fd| fd.reject { |name, _| name == "open" } }
    fiber.merge("wait" => fiber["wait"].reject { |name, _| name == "text" }.merge("fds" => fds))
  end

  # What registers show is known only for a process that was stopped.
  def self.without_registers(fiber)
    return fiber.reject { |name, _| name == "wait" } if fiber.dig("wait", "known_by") == "syscall"
    return fiber unless fiber.dig("wait", "fds")
    fiber.merge("wait" => fiber["wait"].reject { |name, _| %w[text fds].include?(name) })
  end

  # Without registers, or without the thread's stack, nobody can say where its thread-locals are.
  def self.ruby_only(fiber)
    fiber = fiber.reject { |name, _| name.start_with?("native") || name == "stack" }
    return fiber unless fiber["context"]
    fiber.merge("context" => fiber["context"].reject { |name, _| %w[thread_local difference].include?(name) })
  end

  # Reports the first difference of two trees, and its place.
  def self.same_parts(test, place, mine, other)
    return if mine == other
    return test.same(place, mine, other) unless mine.class == other.class && (mine.is_a?(Array) || mine.is_a?(Hash))
    keys = mine.is_a?(Hash) ? mine.keys | other.keys : (0...[mine.size, other.size].max).to_a
    key = keys.find { |each| mine[each] != other[each] }
    name = mine[key].is_a?(Hash) && mine[key]["id"] ? "#{key} #{mine[key]['id']}" : key
    same_parts(test, "#{place} #{name}", mine[key], other[key])
  end

  # A fixture that waits while the block looks at it.
  class LiveDebuggee < Debuggee
    attr_reader :pid

    # A file in its folder.
    def file(name)
      path(name)
    end

    def run
      rehearse
      spawned = spawn_ruby(@ending == :stop ? "stop" : "sleep")
      wait_until("truth.json") { File.exist?(path("truth.json")) }
      @truth = read("truth.json")
      @pid = @truth["pid"]
      wait_until("state #{@ending}") { settled?(@pid) }
      yield self
    ensure
      Child.stop(spawned, @pid || spawned) if spawned
    end

    # Continues until it stops the next time.
    def go_on
      File.delete(path("truth.json"))
      Child.signal(:CONT, @pid)
      wait_until("truth.json again") { File.exist?(path("truth.json")) }
      wait_until("state stop again") { settled?(@pid) }
      @truth = read("truth.json")
    end

    def take_core
      take_gcore(@pid)
      @core
    end
  end
end
