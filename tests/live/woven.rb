# SPDX-License-Identifier: MIT
require_relative "moment"
require_relative "../weave/suite"

# The weaving test on running processes: the order of native and Ruby frames is what the extension
# logged, native stacks are gdb's, and a core of the same moment says the same.
module Woven
  FOLDER = File.expand_path("../weave", __dir__)
  CASES = { "chain" => %w[chain], "calls" => %w[fiber], "mn" => %w[chain], "yjit" => %w[fiber] }.freeze

  def self.cases(rubies)
    CASES.keys.map { |name| Fixture.new(name, FOLDER) }.flat_map do |fixture|
      rubies.select { |ruby| fixture.runs_on?(ruby.version) }.product(CASES[fixture.name]).map do |ruby, variant|
        LiveCase.new("woven #{fixture.name}:#{variant} #{ruby.name}") { Woven.test(self, fixture, variant, ruby) }
      end
    end
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
      Moment.core(test, debuggee, ruby, live)
      Gdb.new(ruby, debuggee.core).compare(live, Order.new(debuggee.truth, live, debuggee.lost)).each { |line| test.fail(line) }
    end
  ensure
    workshop.remove(folder) if folder
    workshop.close if workshop
  end
end
