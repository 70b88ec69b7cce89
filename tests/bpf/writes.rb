# SPDX-License-Identifier: MIT

# The example counts each write(2) for its request, and as many as strace does.
module Writes
  COUNT = 2000

  def self.cases(workshops)
    own = workshops.keys.find { |ruby| ruby.root.empty? }
    workshops.map { |ruby, workshop| BpfCase.new("writes #{ruby.name}") { Writes.compare(self, ruby, workshop) } } +
      (own ? [BpfCase.new("writes inside a container") { Writes.inside(self, own, workshops[own]) }] : [])
  end

  # The example and its argument have ids of the container in which both run.
  def self.inside(test, ruby, workshop)
    container = Process.spawn(*LiveCase::ROOT, *Record::INSIDE, "sleep", "1000", pgroup: true)
    first = nil
    test.wait_until("container") { first = Elsewhere.descendants(container).find { |each| Elsewhere.inner_pid(each) == 1 } }
    test.wait_until("/proc of the container") { File.readlink("/proc/#{first}/exe").end_with?("sleep") }
    enter = [*LiveCase::ROOT, "nsenter", "-t", first.to_s, "--pid", "--mount"]
    compare(test, ruby, workshop, before: enter)
  ensure
    Child.stop(container, -container) if container
  end

  # `before` is put before the commands of the program and of the example.
  def self.compare(test, ruby, workshop, before: [])
    seed = Random.new_seed % 2**31
    loader = tracer = nil
    summary = File.join(test.folder, "strace")
    truth = test.truth_of(ruby, workshop, "writes.rb", seed, COUNT, 3, before: before) do |pid, spawned|
      outside = Elsewhere.descendants(spawned).find { |each| Elsewhere.inner_pid(each) == pid }
      # rcore cannot stop a process that strace has stopped.
      loader = test.load([*before, BpfCase.program("bpf/writes"), pid.to_s], /\Acounting$/)
      tracer = test.load(["strace", "-c", "-f", "-o", summary, "-p", outside.to_s], /attached/)
    end
    test.same("status of strace", true, Child.wait(tracer.pid).success?)
    Child.signal(:INT, Elsewhere.descendants(loader.pid).last)
    counts = counted(test.unload(loader))
    traced = File.read(summary)[/^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?write$/, 1].to_i
    test.same("calls, seed #{seed}", traced, counts.values.sum(&:first))
    # The example keeps 40 bytes of an id.
    wanted = truth.each_with_object(Hash.new { |sums, id| sums[id] = [0, 0] }) do |(request, (calls, bytes)), sums|
      sums[request[0, 40]][0] += calls
      sums[request[0, 40]][1] += bytes
    end
    others = counts.keys - wanted.keys
    test.fail("counted for #{others}") unless (others - ["", "none"]).empty?
    wanted.each do |request, sums|
      calls, bytes = counts.fetch(request, [0, 0]).zip(sums).map { |found, own| found - own }
      # Ruby wakes its timer thread with 8 bytes, in the middle of what a request does.
      test.fail("#{request}, seed #{seed}: #{counts[request]}, not #{sums}") unless calls >= 0 && bytes == calls * 8
    end
    test.note = "#{traced} calls, #{wanted.size} requests"
  end

  def self.counted(lines)
    lines.to_h do |line|
      bytes, calls, request = line.match(/\A *(\d+) bytes +(\d+) calls  (.*)\z/).captures
      [request, [calls.to_i, bytes.to_i]]
    end
  end
end
