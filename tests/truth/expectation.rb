# SPDX-License-Identifier: MIT
require "fileutils"
require "open3"
require "timeout"
require "tmpdir"

# The exit statuses of rcore.
module Status
  COMPLETE, INCOMPLETE, NOTHING, NOT_RUBY, USAGE = 0, 1, 2, 3, 64
  DECODED = [COMPLETE, INCOMPLETE].freeze
  ANY = [COMPLETE, INCOMPLETE, NOTHING, NOT_RUBY].freeze
end

# Runs rcore on unusual input, and counts how often it behaved well: it ended in
# time and by itself, with the right status, and printed one clear line if it
# could do nothing.
class Expectation
  RCORE = ENV["RCORE"] || File.expand_path("../../build/rcore", __dir__)
  SECONDS = 60

  def initialize(name, pattern = nil)
    @pattern = pattern
    @work = Dir.mktmpdir("rcore-#{name}.")
    File.chmod(0o755, @work)
    @passed = @failed = 0
  end

  # A folder for files; close() removes it.
  attr_reader :work

  # Runs `rcore analyze ARGUMENTS`, and returns its exit status.
  def expect(name, arguments, statuses, line = nil, output: nil, command: [RCORE, "analyze"])
    return if @pattern && !name.include?(@pattern)
    wrong, status = run([*command, *arguments], Array(statuses), line, output)
    note(name, wrong)
    status
  end

  # wrong: what was wrong, one line each.
  def note(name, wrong)
    return if @pattern && !name.include?(@pattern)
    wrong.empty? ? @passed += 1 : @failed += 1
    return if wrong.empty?
    puts "FAIL  #{name}"
    wrong.first(5).each { |each| puts "      #{each}" }
  end

  def path(name)
    File.join(@work, name)
  end

  # Prints the totals. Returns whether all passed.
  def close
    FileUtils.rm_rf(@work)
    puts "#{@passed} passed, #{@failed} failed"
    @failed.zero?
  end

  private

  def run(command, statuses, line, output)
    out, err, status = within { Open3.capture3(*command, binmode: true) }
    return [["still ran after #{SECONDS} seconds: #{command.join(' ')}"], nil] unless status
    lines = err.lines
    allowed = Status::DECODED.include?(status.exitstatus) ? 0 : 1
    wrong = [
      ("was killed by signal #{status.termsig}" if status.signaled?),
      ("ended with #{status.exitstatus}, not #{statuses.join(' or ')}: #{err.lines.first}" unless statuses.include?(status.exitstatus)),
      ("wrote #{lines.size} lines to standard error, not #{allowed}: #{err}" if lines.size != allowed),
      ("wrote #{err.dump}, which does not match #{line.inspect}" if line && err !~ line),
      ("printed nothing like #{output.inspect}" if output && out !~ output),
      ("its line contains unprintable characters: #{err.dump}" if err.force_encoding("UTF-8") =~ /[^[:print:]\n]/),
    ].compact
    [wrong, status.exitstatus]
  end

  def within
    Timeout.timeout(SECONDS) { yield }
  rescue Timeout::Error
    nil
  end
end
