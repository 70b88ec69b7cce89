# SPDX-License-Identifier: MIT
require "timeout"

# Without a locale, Ruby takes all text for ASCII.
Encoding.default_external = Encoding::UTF_8

# The processes that a test starts. Each wait has a limit. Signals are sent
# without a program: procps, which has `kill`, is not on every machine.
module Child
  class Stuck < StandardError; end

  ROOT = Process.uid.zero? ? [] : %w[sudo -n]
  LIMIT = 300 # seconds: an emulated Ruby on a busy machine is slow
  LIMIT_TO_DIE = 60

  # Sends a signal as root to a process, or to the group -pid. Does nothing if
  # it has already ended.
  def self.signal(name, pid)
    return Process.kill(name, pid) if ROOT.empty?
    system(*ROOT, "sh", "-c", 'kill -s "$0" -- "$1"', name.to_s, pid.to_s, err: File::NULL)
  rescue Errno::ESRCH
    nil
  end

  # Returns the exit status of a child. Kills it if it runs too long.
  def self.wait(pid, seconds = LIMIT)
    Timeout.timeout(seconds) { Process.wait2(pid).last }
  rescue Timeout::Error
    line = command_line(pid)
    signal(:KILL, pid)
    reap(pid)
    raise Stuck, "process #{pid} still ran after #{seconds} seconds: #{line}"
  end

  # Kills a child, or `target` instead if the process to kill is a group or was
  # started by the child, and waits for the child.
  def self.stop(pid, target = pid)
    signal(:KILL, target)
    reap(pid)
  end

  # The processes whose command line contains a text.
  def self.running(text)
    Dir.children("/proc").grep(/\A\d+\z/).map(&:to_i).select { |pid| command_line(pid).include?(text) }
  end

  def self.command_line(pid)
    File.binread("/proc/#{pid}/cmdline").tr("\0", " ").strip
  rescue SystemCallError
    ""
  end

  def self.reap(pid)
    Timeout.timeout(LIMIT_TO_DIE) { Process.wait2(pid).last }
  rescue Timeout::Error
    raise Stuck, "process #{pid} was killed and did not end in #{LIMIT_TO_DIE} seconds: #{command_line(pid)}"
  end
  private_class_method :reap
end
