# SPDX-License-Identifier: MIT
require_relative "record"

# rcore does not read the ring buffer for a while, so it becomes full. What is
# lost is counted, and the rest is right.
module Overruns
  KINDS = 4
  DEPTH = 300
  # For each thread.
  CALLS = { "samples" => 3000, "calls" => 800 }.freeze
  RATE = 9999
  # The largest size of the ring buffer in bytes, and the smallest of a record
  # of such a stack.
  RING = 8 << 20
  RECORD = DEPTH * 56
  # How much the kernel's clock of a thread and its timer may differ.
  CLOCKS = (0.8..1.25).freeze
  STACK = /\A(?:Object#)?kind(\d+)_(\d+)\z/.freeze
  LOST = / (\d+) (?:records? )?(?:was|were) lost because rcore was too slow[,;]/.freeze
  MODES = { "samples" => ["--ebpf=require", "-r", RATE.to_s], "calls" => ["-e", "syscalls:getppid"] }.freeze

  def self.cases(workshops)
    own = workshops.keys.find { |ruby| ruby.root.empty? } or return []
    MODES.map { |mode, options| BpfCase.new("overruns #{mode} #{own.name}") { Overruns.compare(self, own, workshops[own], mode, options) } }
  end

  def self.compare(test, ruby, workshop, mode, options)
    truth, recording, log = recorded(test, ruby, workshop, CALLS[mode], options)
    lost = log[LOST, 1].to_i
    kept = recording.sum("samples") { true }
    test.fail("no records were lost: #{log}") unless lost.positive?
    test.fail("records are counted differently: #{kept}, and #{log}") unless log.include?("rcore: #{kept} samples ") || log.include?(" s, #{kept} system calls; ")
    send("check_#{mode}", test, truth, recording, kept, lost)
    recording.totals.each { |total| check(test, recording, total) }
    test.note = "#{kept} #{mode}, #{lost} lost"
  end

  # Returns the program's truth, the recording, and what rcore prints at the
  # end. The program does the first half of its work while rcore is stopped. It
  # then stays until rcore has ended, because rcore reads the names of methods
  # from it.
  def self.recorded(test, ruby, workshop, calls, options)
    recorder = nil
    path, log = %w[overruns.rec overruns.log].map { |name| File.join(test.folder, name) }
    truth = test.truth_of(ruby, workshop, "overruns.rb", KINDS, DEPTH, calls) do |pid|
      recorder = Process.spawn(*BpfCase::ROOT, Suite::RCORE, "record", *options, "-p", pid.to_s, "-o", path, *ruby.files, %i[out err] => log, pgroup: true)
      test.wait_until("recording: #{File.read(log)}") { File.exist?(path) || Process.wait(recorder, Process::WNOHANG) }
      Child.signal(:STOP, -recorder)
      work(test, pid, "half")
      Child.signal(:CONT, -recorder)
      work(test, pid, "whole")
      Child.signal(:INT, -recorder)
      test.same("status of rcore: #{File.read(log)}", true, Child.wait(recorder).success?)
      recorder = nil
    end
    [truth, Record.read(path), File.read(log)]
  ensure
    Child.stop(recorder, -recorder) if recorder
  end

  def self.work(test, pid, part)
    FileUtils.touch("/proc/#{pid}/cwd/begin_#{part}")
    test.wait_until(part) { File.exist?("/proc/#{pid}/cwd/#{part}") }
  end

  # All methods of a stack, from the outermost one on, belong to one kind, and
  # the context belongs to it, too.
  def self.check(test, recording, total)
    places = recording.stack(total).filter_map { |label| label.match(STACK)&.captures&.map(&:to_i) }
    return if places.empty?
    kind = places.first.first
    test.fail("torn: #{recording.stack(total).last(3)} after #{places.size}") unless places == Array.new(places.size) { |depth| [kind, depth] }
    test.same("context of kind #{kind}", { "kind" => kind.to_s }, total["labels"])
  end

  # Each call was recorded or lost.
  def self.check_calls(test, truth, recording, kept, lost)
    test.same("#{kept} calls and #{lost} lost", truth["calls"], kept + lost)
    whole = recording.sum("samples") { |total| recording.stack(total).count { |label| label =~ STACK } == DEPTH + 1 }
    test.same("calls with whole stacks", kept, whole)
    least = truth["calls"] / 2 - RING / RECORD
    test.fail("only #{lost} of at least #{least} records are said to be lost") if lost < least
  end

  def self.check_samples(test, truth, recording, kept, lost)
    test.same("achieved rate", (RATE.to_f * kept / (kept + lost)).round(1), recording.achieved)
    share = (kept + lost) / (truth["cpu"] * RATE / 1e9)
    test.fail("#{kept} samples and #{lost} lost are #{share.round(2)} times as many as there were") unless CLOCKS.cover?(share)
  end
end
