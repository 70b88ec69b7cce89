# SPDX-License-Identifier: MIT
require_relative "moment"
require_relative "../weave/suite"

# The weaving test on running processes: the order of native and Ruby frames is what the extension
# logged, native stacks are gdb's, and a core of the same moment says the same.
module Woven
  FOLDER = File.expand_path("../weave", __dir__)
  CASES = { "chain" => %w[chain], "calls" => %w[fiber], "mn" => %w[chain], "yjit" => %w[fiber] }.freeze

  def self.cases(rubies)
    calls = Fixture.new("calls", FOLDER)
    both = rubies.map { |ruby| LiveCase.new("running and parked #{ruby.name}") { Woven.twice(self, calls, ruby) } }
    both + CASES.keys.map { |name| Fixture.new(name, FOLDER) }.flat_map do |fixture|
      rubies.select { |ruby| fixture.runs_on?(ruby.version) }.product(CASES[fixture.name]).map do |ruby, variant|
        LiveCase.new("woven #{fixture.name}:#{variant} #{ruby.name}") { Woven.test(self, fixture, variant, ruby) }
      end
    end
  end

  # A parked fiber's native stack is what it was when the fiber itself was at
  # that place.
  def self.twice(test, fixture, ruby)
    workshop = Workshop.new(ruby, FOLDER)
    return test.note = "skipped: no ruby-dev for it" unless workshop.extension
    folder = workshop.make(fixture)
    debuggee = Moment::LiveDebuggee.new(ruby, fixture, "twice", :stop, folder).extend(WeaveSuite::Unrehearsed)
    debuggee.run do
      running, = test.report("-p", debuggee.pid)
      debuggee.go_on
      parked, = test.report("-p", debuggee.pid)
      next unless running && parked
      fiber = running["fibers"].find { |each| each["id"] == running["threads"].first["current_fiber"] }
      same_fiber(test, fiber, parked["fibers"].find { |each| each["object"] == fiber["object"] })
    end
  ensure
    workshop.remove(folder) if folder
    workshop.close if workshop
  end

  # The frames from the function in which it stopped outwards, and those when it
  # was parked.
  def self.same_fiber(test, running, parked)
    outside = [running, parked].map do |fiber|
      frames = fiber["native"].drop_while { |frame| frame["function"] != "stop_and_park" }
      test.fail("#{fiber['id']}: not in stop_and_park") if frames.empty?
      frames
    end
    test.same("status", %w[resumed suspended], [running["status"], parked["status"]])
    test.same("place", *outside.map { |frames| frames.first&.values_at("function_start", "sp") })
    test.same("frames outside", *outside.map { |frames| frames.drop(1).map { |frame| frame.reject { |key, _| key == "trust" } } })
    test.fail("#{outside.map(&:size)} frames") if outside.map(&:size).min < 100
    test.note = "#{outside.last.size} native frames"
  end

  def self.test(test, fixture, variant, ruby)
    workshop = Workshop.new(ruby, FOLDER)
    return test.note = "skipped: no ruby-dev for it" unless workshop.extension
    folder = workshop.make(fixture)
    debuggee = Moment::LiveDebuggee.new(ruby, fixture, variant, :stop, folder).extend(WeaveSuite::Unrehearsed)
    debuggee.run do
      live, status = test.report("-p", debuggee.pid)
      next unless live
      test.same("exit status", 0, status)
      order = Order.new(debuggee.truth, live, []).run
      order.differences.each { |line| test.fail(line) }
      test.fail("nothing was compared") if order.frames.zero?
      test.note = "#{order.frames} frames"
      Moment.core(test, debuggee, ruby, fixture, live)
      # gdb goes astray in compiled code.
      next if fixture.options["compiled"]
      Gdb.new(ruby, debuggee.core).compare(live, Order.new(debuggee.truth, live, debuggee.lost)).each { |line| test.fail(line) }
    end
  ensure
    workshop.remove(folder) if folder
    workshop.close if workshop
  end
end
