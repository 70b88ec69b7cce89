# SPDX-License-Identifier: MIT
require "etc"
require "open3"
require_relative "../support/draw"
require_relative "../support/unique_keys"
require_relative "fixture"
require_relative "workshop"
require_relative "debuggee"
require_relative "labels"
require_relative "compare"
require_relative "compare_facts"
require_relative "compare_kept"
require_relative "compare_known"
require_relative "compare_tasks"
require_relative "values"

# Runs fixtures on Rubies, and compares all that rcore reports about each core
# with what the fixture wrote before it died.
class Suite
  RCORE = ENV["RCORE"] || File.expand_path("../../build/rcore", __dir__)
  JOBS = (ENV["JOBS"] || Etc.nprocessors).to_i
  SHOWN = (ENV["SHOWN"] || 8).to_i

  Job = Struct.new(:fixture, :variant, :ending, :ruby) do
    def to_s
      ["#{fixture.name}#{":#{variant}" if variant}", ruby.name, ending].join(" ")
    end
  end

  # program: says what goes wrong. fixture: "NAME", "NAME:VARIANT", or nil for all. targets: what is
  # analyzed: the :core, and a :pack of it, where no file of the target is found. Each run draws that many
  # Rubies for a case, and that share of all cases; all if there is a fixture.
  def initialize(program, rubies, fixture, targets: %i[core], rubies_each: rubies.size, share: 1)
    @program, @rubies, @targets, @rubies_each, @share = program, rubies, targets, rubies_each, share
    Draw.take_all if fixture
    @name, @variant = fixture && fixture.split(":")
    @lock = Mutex.new
    @passed = @failed = 0
    @skipped = Hash.new(0)
  end

  # Returns the exit status.
  def run
    abort "#{@program}: no #{RCORE}: run `make` first" unless File.executable?(RCORE)
    $stdout.sync = true
    queue = Queue.new
    jobs.each { |job| queue << job }
    queue.close
    Draw.say(@program)
    @workshops = @rubies.to_h { |ruby| [ruby, Workshop.new(ruby, fixtures)] }
    Array.new(JOBS) do
      Thread.new do
        while (job = queue.pop)
          work(job)
        end
      end
    end.each(&:join)
    @workshops.each_value(&:close)
    @skipped.each { |ruby, count| puts "skipped #{count} cases with an extension on #{ruby}: no ruby-dev for it" }
    puts "#{@passed} passed, #{@failed} failed"
    @failed.zero? ? 0 : 1
  end

  private

  # The folder of its programs.
  def fixtures
    Fixture::FOLDER
  end

  def jobs
    cases = Fixture.all(fixtures).select { |fixture| @name.nil? || fixture.name == @name }
    abort "#{@program}: no such case or Ruby; cases are in #{fixtures.delete_prefix("#{Dir.pwd}/")}, Rubies in tests/packages/rubies" if @rubies.empty? || cases.empty?
    missing = @rubies.map(&:missing).compact
    abort missing.map { |line| "#{@program}: #{line}" }.join("\n") unless missing.empty?
    all = cases.flat_map { |fixture| jobs_of(fixture) }
    Draw.of(all, (all.size * @share).ceil, "cases")
  end

  def jobs_of(fixture)
    variants = @variant ? [@variant] : fixture.variants
    variants.product(fixture.endings).flat_map do |variant, ending|
      rubies = @rubies.select { |ruby| fixture.runs_on?(ruby.version, ruby.machine) && ruby.endings.include?(ending) }
      Draw.of(rubies, @rubies_each, "#{fixture.name} #{variant} #{ending}").map { |ruby| Job.new(fixture, variant, ending, ruby) }
    end
  end

  def work(job)
    workshop = @workshops[job.ruby]
    if job.fixture.options["ext"] && !workshop.extension
      return @lock.synchronize { @skipped[job.ruby.name] += 1 }
    end
    folder = workshop.make(job.fixture)
    differences, frames = test(job, folder)
    workshop.remove(folder) if differences.empty?
    @lock.synchronize do
      differences.empty? ? @passed += 1 : @failed += 1
      say(job, differences, frames, job.ruby.outside(folder))
    end
  end

  # [differences, frames compared]
  def test(job, folder)
    debuggee = job.ruby.debuggee.new(job.ruby, job.fixture, job.variant, job.ending, folder).run
    all = Values.new(debuggee.truth["values"] || [], debuggee.core, job.ruby.files).run.differences
    frames = @targets.sum do |target|
      differences, count = compare(job, debuggee, target)
      all += target == :core ? differences : differences.map { |line| "the #{target}: #{line}" }
      count
    end
    [all, frames]
  rescue Debuggee::Failed => error
    [[error.message], 0]
  end

  # The same of one target.
  def compare(job, debuggee, target)
    report, status, differences = analyze(job, debuggee.core, target)
    return [differences, 0] unless report && report["fibers"]
    compare = Compare.new(debuggee.truth, Labels.new(debuggee.rehearsal), report, job.ending, debuggee.lost).run(status)
    [differences + compare.differences, compare.frames]
  end

  def analyze(job, core, target = :core)
    # It was built for this run, and exists nowhere else.
    extensions = File.expand_path("../ext", File.dirname(core))
    core, *files = [core, *job.ruby.files, "--lib-search-path", extensions]
    differences = []
    core, *files = pack(job, core, files, differences) if target == :pack
    out, err, status = ask(["analyze", "--json", *job.fixture.analyze, core, *files], differences)
    differences << "rcore complains: #{err}" unless err.empty?
    [UniqueKeys.parse(out.force_encoding("UTF-8"), max_nesting: false), status.exitstatus, differences]
  rescue JSON::ParserError => error
    [nil, status.exitstatus, differences << "no JSON (#{status.inspect}): #{error.message[0, 200]}"]
  end

  # [output, complaint, status]
  def ask(arguments, _differences)
    Open3.capture3(RCORE, *arguments, binmode: true)
  end

  def pack(job, core, files, differences)
    packed = "#{core}.pack"
    said, status = Open3.capture2e(RCORE, "pack", "-o", packed, *job.fixture.analyze, core, *files, binmode: true)
    differences << "rcore pack: #{said}" unless File.exist?(packed) && status.exitstatus < 2
    Dir.mkdir(nothing = "#{core}.nothing")
    [packed, "--sysroot", nothing]
  end

  def say(job, differences, frames, kept)
    return puts("ok    #{job} (#{frames} frames)") if differences.empty?
    puts "FAIL  #{job}"
    differences.first(SHOWN).each { |line| puts "      #{line}" }
    puts "      and #{differences.size - SHOWN} more" if differences.size > SHOWN
    puts "      kept in #{kept}"
  end
end
