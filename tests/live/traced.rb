# SPDX-License-Identifier: MIT

# A process that strace traces cannot be stopped. Only commands that have --no-stop suggest it.
module Traced
  ADVICE = { "waits" => "detach that tracer, or use --no-stop (Ruby frames only)", "heap" => "detach that tracer",
             "bpf-params" => "detach that tracer" }.freeze

  def self.cases(rubies)
    rubies.map { |ruby| LiveCase.new("traced #{ruby.name}") { Traced.look(self, ruby) } }
  end

  def self.look(test, ruby)
    test.with_program(ruby, "changing.rb") do |pid, counter|
      tracer = Process.spawn(*LiveCase::ROOT, "strace", "-qq", "-f", "-e", "trace=none", "-p", pid.to_s, err: File::NULL, pgroup: true)
      test.wait_until("tracer") { File.read("/proc/#{pid}/status")[/^TracerPid:\s+[1-9]/] }
      ADVICE.each do |command, advice|
        out, err, status = Open3.capture3(*LiveCase::ROOT, Suite::RCORE, command, "-p", pid.to_s)
        test.same("#{command}: output, status", ["", 2], [out, status.exitstatus])
        test.fail("#{command}: #{err}") unless err.match?(/\Arcore: process #{pid} is already traced by process \d+ \(strace\); #{Regexp.escape(advice)}\n\z/)
      end
      out, err, status = Open3.capture3(*LiveCase::ROOT, Suite::RCORE, "waits", "-p", pid.to_s, "--no-stop")
      test.same("--no-stop: errors, status", ["", 0], [err, status.exitstatus])
      test.fail("--no-stop: #{out}") unless out.include?("T2")
      test.goes_on(counter)
    ensure
      Child.stop(tracer, -tracer) if tracer
    end
  end
end
