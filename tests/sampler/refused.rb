# SPDX-License-Identifier: MIT

# One clear line, and the README's exit status.
module Refused
  USAGE = 64
  BRIEF = /no samples: the program ended within \d\.\d s of its start, before (?:it was seen to run Ruby|the first one(?:; .*)?)$/.freeze

  def self.cases(rubies)
    own = rubies.find { |ruby| ruby.root.empty? } or return []
    program = own.program
    {
      "no such process" => [2, /no process|no such process/i, ["-p", 999_999_9]],
      "nothing named" => [USAGE, /-p PID or a command/, []],
      "a pid without -p" => [USAGE, /unexpected argument '1'; use -p PID or -- COMMAND; see rcore record --help/, [1]],
      "a command without --" => [USAGE, /unexpected argument 'true'; use -p PID/, ["true"]],
      "both named" => [USAGE, /not both/, ["-p", 1, "--", "true"]],
      "too fast" => [USAGE, /at most/, ["-p", 1, "-r", 20_000]],
      "unknown ending" => [USAGE, /\.xyz.* \.json, and \.rec for a recording; see rcore record --help$/, ["-p", 1, "-o", "x.xyz"]],
      "unwritable" => [2, /cannot write|No such file/, ["-o", "/nonexistent/x.rec", "--", program, "-e", "sleep 1"]],
      "no such command" => [2, /cannot run/, ["--", "/nonexistent/ruby"]],
      # rcore may still see it, and that it runs no Ruby, or not yet.
      "ended at once" => [[2, 3], BRIEF, ["--", "true"]],
      "ended soon" => [[2, 3], BRIEF, ["--", "sleep", "0.1"]],
      "never Ruby" => [3, /not a Ruby process: "sleep 1.5"/, ["--", "sleep", "1.5"]],
    }.map { |name, (status, line, arguments)| SamplerCase.new("refused #{name}") { Refused.refuse(self, status, line, arguments) } } +
      [SamplerCase.new("refused not Ruby") { Refused.not_ruby(self) },
       SamplerCase.new("refused not ours") { Refused.not_ours(self, program) },
       SamplerCase.new("booting") { Refused.booting(self, program) }]
  end

  def self.refuse(test, wanted, line, arguments)
    out, err, status = test.rcore("record", *arguments)
    test.fail("exit status #{status}, not #{wanted}") unless Array(wanted).include?(status)
    test.fail("#{err.inspect} is no single line that says #{line.inspect}") unless err =~ line && err.lines.size == 1
    test.same("output", "", out)
  end

  def self.not_ruby(test)
    pid = Process.spawn("sleep", "600")
    refuse(test, 3, /not.*Ruby|no Ruby/i, ["-p", pid])
  ensure
    Child.stop(pid)
  end

  def self.not_ours(test, program)
    return test.note = "not tested: not root" unless Process.uid.zero?
    pid = Process.spawn(program, "-e", "sleep")
    sleep 0.2
    _, err, status = Open3.capture3("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", Suite::RCORE, "record", "-p", pid.to_s, "-d", "1")
    test.same("exit status", 2, status.exitstatus)
    test.fail("#{err.inspect} names no permission") unless err.lines.size == 1 && err =~ /permission|not allowed|sudo|root/i
  ensure
    Child.stop(pid) if pid
  end

  # A Ruby that has no VM yet is waited for.
  def self.booting(test, program)
    5.times do
      pid = Process.spawn(program, "-e", "loop { 1.times { } }")
      _, err, status = test.rcore("record", "-p", pid, "-d", "1", "-o", File.join(test.folder, "boot.rec"))
      test.fail("exit status #{status}: #{err}") unless status.zero?
    ensure
      Child.stop(pid)
    end
  end
end
