# SPDX-License-Identifier: MIT

# `rcore record --ebpf`: no sample is torn, each has the label of its moment, and shares of time are those that the programs
# measured themselves.
module Ebpf
  RATE = 4999
  SAMPLES = 3000
  SEEDS = 2
  REQUIRE = "--ebpf=require".freeze

  def self.cases(rubies)
    jits = ->(ruby) { ruby.version.segments.first(2) == [3, 1] ? [[], ["--yjit"]] : [[]] }
    rubies.flat_map do |ruby|
      [*jits[ruby].map { |options| EbpfCase.new(["ebpf pairs", ruby.name, *options].join(" ")) { Ebpf.pairs(self, ruby, options) } },
       EbpfCase.new("ebpf shares #{ruby.name}") { Ebpf.shares(self, ruby) }]
    end
  end

  # Why this kernel runs no BPF program; nil if it does, and if rcore says anything else.
  def self.refused
    Open3.popen3(RbConfig.ruby, "-e", "loop { }", pgroup: true) do |_, _, _, thread|
      _, err, = Open3.capture3(*LiveCase::ROOT, Suite::RCORE, "record", REQUIRE, "-p", thread.pid.to_s, "-d", "1")
      err[/the kernel does not (?:allow|support) it \(.*?\)/]
    ensure
      Child.stop(thread.pid)
    end
  end

  # Only a frame that its thread is just filling is left out.
  def self.pairs(test, ruby, options)
    test.record_options.push(REQUIRE, "-r", RATE.to_s, "-d", "1")
    samples, partial, unread, impossible = Pairs.count(test, ruby, options) { |taken, _| taken >= SAMPLES }
    test.fail("impossible: #{impossible.first(5).to_h}") if impossible.any?
    test.fail("#{unread} of #{samples} samples could not be read") if unread * 100 > samples
    test.fail("#{partial} of #{samples} samples have outer frames only") if partial * 10 > samples
  end

  def self.shares(test, ruby)
    test.record_options << REQUIRE
    Times.shares(test, ruby, seeds: SEEDS, allowed_late: 0)
  end
end

class EbpfCase < SamplerCase
end
