# SPDX-License-Identifier: MIT
require_relative "../truth/suite"
require_relative "order"
require_relative "gdb"
require_relative "folded"

# Runs the programs of this folder on Rubies, and checks the stacks that rcore
# wove for each core.
class WeaveSuite < Suite
  # Without a rehearsal: the programs log their labels as this Ruby prints them.
  module Unrehearsed
    private

    def rehearse
    end
  end

  private

  def fixtures
    __dir__
  end

  def test(job, folder)
    program = job.ruby.debuggee.new(job.ruby, job.fixture, job.variant, job.ending, folder).extend(Unrehearsed).run
    report, _, differences = analyze(job, program.core)
    return [differences, 0] unless report && report["fibers"]
    notes = job.fixture.options["notes"]&.split(",") || Order::PROGRAMS
    order = Order.new(program.truth, report, program.lost, notes).run
    differences += order.differences
    differences += compiled(report, job.fixture.options["compiled"]) if job.variant == "hot"
    differences += parked(report, job.fixture.options["parked"])
    differences += Folded.new(job, program.core, report).run if job.fixture.options["folds"]
    differences += Gdb.new(job.ruby, program.core).compare(report, order) if gdb?(job)
    [differences, order.frames]
  rescue Debuggee::Failed, Gdb::Failed => error
    [[error.message], 0]
  end

  # Fails if fewer native frames than `least` are of code that a JIT compiled, which is in no file. Otherwise the test would prove
  # nothing about such code.
  def compiled(report, least)
    count = report["fibers"].map { |fiber| fiber["native"].to_a.count { |frame| frame["module"].nil? } }.sum
    count >= least.to_i ? [] : ["only #{count} of #{least} frames are of compiled code"]
  end

  # Fails if fewer threads than `least` have no kernel thread.
  def parked(report, least)
    count = report["threads"].count { |thread| thread["parked"] && !thread["tid"] }
    count >= least.to_i ? [] : ["only #{count} of #{least} threads have no kernel thread"]
  end

  # This gdb knows only the machine that it runs on.
  def gdb?(job)
    return false unless job.ruby.machine == TestRuby.all.first.machine
    job.fixture.options["gdb"].to_s.split("+").include?(job.variant)
  end
end
