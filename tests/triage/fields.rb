# SPDX-License-Identifier: MIT
require "open3"
require "time"
require_relative "crash"

# Compares a line of rcore triage with what the program wrote before it died: the line of a core, of its pack, and of the
# pack of `rcore collect`.
class Fields
  RCORE = ENV["RCORE"] || File.expand_path("../../build/rcore", __dir__)
  ENVIRONMENT = { "OTEL_SERVICE_NAME" => "till", "OTEL_RESOURCE_ATTRIBUTES" => "service.version=2026.47%2Cb,service.name=no",
                  "HOSTNAME" => "pod-7", "RUBYOPT" => "-W0" }.freeze
  FRAMES = ["Process.kill", "Checkout#pay (main.rb)", "Checkout#total (main.rb)"].freeze

  def initialize(tally)
    @tally = tally
  end

  def run(rubies)
    rubies.each do |ruby|
      Crash.workshop(ruby) { |workshop| Crash.of(workshop, ruby, "fleet", "total", environment: ENVIRONMENT) { |crash| test(ruby, crash) } }
    rescue Debuggee::Failed => error
      @tally.note("fields on #{ruby.name}", [error.message])
    end
  end

  private

  def test(ruby, crash)
    @ruby, @crash, @folder = ruby, crash, File.dirname(crash.core)
    File.utime(Time.at(1_700_000_000), Time.at(1_700_000_000), crash.core)
    pack = File.join(@folder, "x.pack")
    rcore("pack", crash.core, *crash.files, "-o", pack)
    core, packed = triage("--heap", "100", crash.core, pack)
    check_identity("core", core)
    check_identity("pack", packed)
    check_times(core, packed)
    # The child of `rcore collect` runs as nobody, and cannot read the folder of another Ruby.
    check_collected if ruby.files.empty?
    check_heap(core, packed)
    check_options
    check_failures
    check_redaction
  end

  def rcore(*command)
    out, err, status = Open3.capture3(RCORE, *command)
    raise Debuggee::Failed, "rcore #{command.join(" ")}: #{status}: #{err}" unless [0, 1].include?(status.exitstatus)
    out
  end

  # Lines of cores that could not be read: one is cut, the other takes too long. They have a time, and what options say.
  def check_failures
    options = %w[--service shop --release 7 --host h1]
    broken = File.join(@folder, "cut.core")
    IO.copy_stream(@crash.core, broken, 3_000)
    stopped = File.join(@folder, "slow.core")
    FileUtils.cp(@crash.core, stopped)
    [broken, stopped].each { |path| File.utime(Time.at(1_700_000_001), Time.at(1_700_000_001), path) }
    lines = [failing(broken, *options), failing(stopped, "--memory-limit", "1", *options)]
    lines.each_with_index do |line, index|
      @tally.same("fields on #{@ruby.name}: line #{index} of what failed", ["shop", "7", "h1", "option", "2023-11-14T22:13:21Z", "file", true],
                  [*line.values_at("service", "release", "host", "host_source", "time", "time_source"), line.key?("error")])
    end
  end

  def failing(core, *options)
    out, = Open3.capture2(RCORE, "triage", "--json", *options, core)
    JSON.parse(out)
  end

  def check_collected
    folder = File.join(@folder, "collected")
    before = Time.now.to_i
    system(RCORE, "collect", "--keep-free", "1", "-d", folder, in: @crash.core) or raise Debuggee::Failed, "rcore collect: #{$?}"
    after = Time.now.to_i
    line, = triage(Dir[File.join(folder, "*.core")].first)
    check_identity("collected pack", line)
    @tally.same("source of the time of #{@ruby.name}, collected", "clock", line["time_source"])
    @tally.note("time of #{@ruby.name}, collected", Time.parse(line["time"]).to_i.between?(before, after) ? [] : [line["time"]])
  end

  def triage(*words)
    rcore("triage", "--json", *@crash.files, *words).lines.map { |line| JSON.parse(line) }
  end

  def check_identity(what, line)
    truth = @crash.truth
    wanted = { "pid" => truth["pid"], "ruby" => truth["ruby"], "signal" => "SIGABRT", "service" => "till", "release" => "2026.47,b",
               "host" => "pod-7", "host_source" => "environment", "build_id" => build_id(truth["library"]) }
    @tally.same("#{what} of #{@ruby.name}", wanted, line.slice(*wanted.keys))
    @tally.same("frames of the #{what} of #{@ruby.name}", FRAMES, line["ruby_frames"].first(3))
    @tally.note("native frames of the #{what} of #{@ruby.name}", line["native_frames"].to_a.grep(/libruby/).any? ? [] : [line["native_frames"].inspect])
  end

  def build_id(library)
    `eu-readelf -n #{@ruby.outside(library)}`[/Build ID: (\h+)/, 1]
  end

  # The time of a pack is that of its core, not of its file.
  def check_times(core, packed)
    wanted = ["2023-11-14T22:13:20Z", "file"]
    @tally.same("time of the core of #{@ruby.name}", wanted, core.values_at("time", "time_source"))
    @tally.same("time of the pack of #{@ruby.name}", wanted, packed.values_at("time", "time_source"))
  end

  def check_heap(core, packed)
    counts = core["heap_classes"].zip(core["heap_class_objects"]).to_h
    @tally.same("orders of #{@ruby.name}", @crash.truth["orders"], counts["Order"])
    whole = JSON.parse(rcore("heap", "--json", *@crash.files, @crash.core))
    @tally.same("heap of #{@ruby.name}", whole.values_at("objects", "bytes"), core.values_at("heap_objects", "heap_bytes"))
    @tally.note("heap of the pack of #{@ruby.name}", packed["heap_problem"] && !packed["heap_objects"] ? [] : [packed.to_s])
  end

  def check_options
    line, = triage("--service", "s", "--release", "r", "--host", "h", @crash.core)
    text = rcore("triage", *@crash.files, @crash.core)
    @tally.note("text on #{@ruby.name}", text.include?("core  ruby #{@crash.truth["ruby"]}  till 2026.47,b  on pod-7\n") ? [] : [text])
    @tally.same("options on #{@ruby.name}", %w[s r h option], line.values_at("service", "release", "host", "host_source"))
  end

  # Options are not redacted.
  def check_redaction
    line, = triage("--redact", "all", "--release", "r", "--heap", "100", @crash.core)
    found = %w[till pod-7 2026.47 Checkout Order].select { |word| line.to_s.include?(word) }
    @tally.note("redaction on #{@ruby.name}", found.empty? && line["release"] == "r" ? [] : ["#{found}: #{line}"])
  end
end
