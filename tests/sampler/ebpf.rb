# SPDX-License-Identifier: MIT
require_relative "pairs"
require_relative "requests"
require_relative "times"

# Checks `rcore record --ebpf`: no sample is torn, each has the label of its moment, and the shares of time are those that the
# programs measured themselves.
module Ebpf
  RATE = 4999
  SAMPLES = 3000
  SEEDS = 2
  REQUIRE = "--ebpf=require".freeze
  # Threads that must have samples, and recordings until then: a busy machine may run few threads in a second.
  THREADS = 10
  ATTEMPTS = 30
  # On a busy machine, most methods may have returned before rcore gets a processor.
  LABELLED = 0.2

  def self.cases(rubies)
    jits = ->(ruby) { ruby.version.segments.first(2) == [3, 1] ? [[], ["--yjit"]] : [[]] }
    rubies.flat_map do |ruby|
      [*jits[ruby].map { |options| EbpfCase.new(["ebpf pairs", ruby.name, *options].join(" ")) { Ebpf.pairs(self, ruby, options) } },
       EbpfCase.new("ebpf requests #{ruby.name}") { Ebpf.requests(self, ruby, REQUIRE, "-r", 199) },
       EbpfCase.new("off-cpu requests #{ruby.name}") { Ebpf.requests(self, ruby, "--off-cpu") },
       EbpfCase.new("ebpf shares #{ruby.name}") { Ebpf.shares(self, ruby) },
       *(EbpfCase.new("ebpf turns #{ruby.name}") { Ebpf.turns(self, ruby) } if has_own_threads?(ruby))]
    end
  end

  # Before 3.3, a kernel thread may run another Ruby thread after the first one has ended.
  def self.has_own_threads?(ruby)
    ruby.version >= Gem::Version.new("3.3")
  end

  # What rcore says if a permission, the system call or BTF is missing. A program that the verifier rejects is a failure.
  MISSING = %r{the kernel does not (?:allow|support) it \((?:.*: (?:Operation not permitted|Function not implemented|Operation not supported)|/sys/kernel/btf/vmlinux: .*?)\)}.freeze

  # Returns why this kernel runs no BPF program; nil if it does, or if rcore fails in another way.
  def self.refused
    pid = Process.spawn(RbConfig.ruby, "-e", "loop { }", pgroup: true)
    _, err, = Open3.capture3(*LiveCase::ROOT, Suite::RCORE, "record", REQUIRE, "-p", pid.to_s, "-d", "1")
    err[MISSING]
  ensure
    Child.stop(pid) if pid
  end

  # No sample has a caller and a callee that never call each other; few are incomplete.
  def self.pairs(test, ruby, options)
    test.record_options.push(REQUIRE, "-r", RATE.to_s, "-d", "1")
    samples, partial = Pairs.sound(test, ruby, options, SAMPLES, share: 0)
    test.fail("#{partial} of #{samples} samples have outer frames only") if partial * 10 > samples
  end

  # A thread whose rb_thread_t is in the memory of an ended one is not confused with it.
  def self.turns(test, ruby)
    test.record_options.push(REQUIRE, "-r", "999", "-d", "1")
    test.with_program(ruby, "turns.rb") do |pid,|
      turns = []
      ATTEMPTS.times { turns.concat(turns_of(test.record(ruby, pid))) if turns.size < THREADS }
      mixed = turns.select { |each| each.size > 1 }
      test.fail("several threads are one: #{mixed.first(3)}") if mixed.any?
      test.fail("only #{turns.size} threads have samples") if turns.size < THREADS
      test.note = "#{turns.size} threads"
    end
  end

  # Returns the methods of each thread.
  def self.turns_of(recording)
    samples = recording.totals.select { |total| recording.stack(total).grep(/turn_\d/).any? }
    samples.group_by { |total| recording.thread(total)["id"] }.values.map { |own| own.map { |total| recording.stack(total).grep(/turn_\d/).first }.uniq }
  end

  # The labels of what threads work on, which rcore reads after the program has copied the stack. Parked fibers have no samples.
  def self.requests(test, ruby, *options)
    Requests.requests(test, ruby, Requests::PARTS.grep_v(/parked/), *options) do |_, counts|
      found = counts.values_at(:right, :right_counting).sum
      test.fail("only #{found} of #{counts.values.sum} samples have a label") if found < LABELLED * counts.values.sum
    end
  end

  def self.shares(test, ruby)
    test.record_options << REQUIRE
    Times.shares(test, ruby, seeds: SEEDS, allowed_late: 0)
  end
end

class EbpfCase < SamplerCase
end
