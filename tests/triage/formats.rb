# SPDX-License-Identifier: MIT
require "open3"
require_relative "crash"

# Every format of real cores whose names are hostile, and of the unit tests' snapshots, held to the published schemas by
# formats.py.
class Formats
  RCORE = ENV["RCORE"] || File.expand_path("../../build/rcore", __dir__)
  WRITE = File.join(ENV["BUILD"] || "build", "tests/triage/write")
  FORMATS = { "text" => ".txt", "json" => ".json", "html" => ".html", "markdown" => ".md", "github" => "", "sarif" => ".sarif", "junit" => ".xml", "gitlab" => "" }.freeze
  OTHERS = { "explain" => %w[explain --json], "state" => %w[state --json --all], "waits" => %w[waits --json],
             "values" => %w[analyze --json --args --locals --self] }.freeze

  def initialize(tally)
    @tally = tally
  end

  def run(rubies)
    listed, = Open3.capture2(RCORE, "complete", "analyze", "--format", "")
    @tally.note("each format has a reader", listed.split.sort == FORMATS.keys.sort ? [] : ["rcore has #{listed.split}, FORMATS #{FORMATS.keys}"])
    Dir.mktmpdir("rcore-formats.") do |folder|
      system(WRITE, folder) or raise "#{WRITE} failed"
      rubies.each { |ruby| write(ruby, folder) }
      output, = Open3.capture2e("/usr/bin/python3", File.join(__dir__, "formats.py"), folder)
      *lines, last = output.lines(chomp: true)
      passed, failed = last.to_s.scan(/\d+/).map(&:to_i)
      @tally.note("formats.py", failed ? [] : output.lines)
      @tally.add("formats", passed.to_i, failed.to_i, lines)
    end
  end

  private

  def write(ruby, folder)
    Crash.workshop(ruby) do |workshop|
      Crash.of(workshop, ruby, "hostile", nil) do |crash|
        base = File.join(folder, ruby.name)
        outputs = FORMATS.flat_map { |format, ending| ["-o", "#{format}:#{base}-#{format}#{ending}"] }
        call("analyze", ruby, 0..1, "analyze", crash.core, *crash.files, "--source-root", "/nowhere", *outputs)
        OTHERS.each { |what, command| keep("#{base}-#{what}.json", ruby, *command, crash.core, *crash.files) }
        values = JSON.parse(File.read("#{base}-values.json"))["fibers"].flat_map { |fiber| objects(fiber) }.uniq.last(30)
        keep("#{base}-print.json", ruby, "print", "--json", crash.core, *crash.files, *values)
        keep("#{base}-triage.jsonl", ruby, "triage", "--json", crash.core, *crash.files)
      end
    end
  rescue Debuggee::Failed => error
    @tally.note("hostile names on #{ruby.name}", [error.message])
  end

  # VALUEs of its frames' locals.
  def objects(fiber)
    fiber["frames"].flat_map { |frame| (frame["locals"] || []) + [frame["self_value"] || {}] }.map { |variable| variable["value"] }.compact
  end

  def keep(path, ruby, *command)
    File.binwrite(path, call(command.first, ruby, 0..1, *command))
  end

  def call(what, ruby, statuses, *command)
    out, err, status = Open3.capture3(RCORE, *command, binmode: true)
    fine = statuses.cover?(status.exitstatus) && err.empty?
    @tally.note("#{what} of hostile names on #{ruby.name}", fine ? [] : ["#{command.join(' ')}: #{status}: #{err}"])
    out
  end
end
