# SPDX-License-Identifier: MIT

# Pages about recordings, which tests/profile/write makes at random.
class Recordings
  WRITE = File.join(ENV["BUILD"] || File.expand_path("../../build", __dir__), "tests/profile/write")
  # [name, kind of recording, options of rcore report, mode]
  ALL = [
    ["recording", "random", [], nil],
    ["recording by CPU time", "short", %w[--mode cpu], "cpu"],
    ["recording short", "short", [], nil],
    ["recording hostile", "hostile-short", [], nil],
    ["recording hostile redacted", "hostile-short", %w[--redact all], nil],
    ["recording gems", "gems", [], nil],
    ["recording cluster", "cluster", [], nil],
    ["recording cluster by CPU time", "cluster", %w[--mode cpu], "cpu"],
    ["recording off-cpu", "off-cpu", [], nil],
    ["recording calls", "syscalls:read", [], nil],
    ["recording wide", "wide", [], nil],
    ["recording deep", "deep", [], nil],
    ["recording compared", "short", %w[--diff OLD], nil]
  ].freeze

  # words: only pages whose names contain all of them.
  def initialize(folder, words)
    @folder, @words = folder, words
    @seed = Integer(ENV["SEED"] || rand(1 << 32))
  end

  def all
    ALL.select { |name, *| @words.all? { |word| name.include?(word) } }.map { |name, kind, options, mode| page(name, kind, options, mode) }
  end

  private

  def draw(kind, seed)
    path = File.join(@folder, "#{kind.tr(":", "-")}-#{seed}.rec")
    File.exist?(path) or system(WRITE, seed.to_s, path, kind, out: File::NULL) or raise "#{WRITE} failed"
    path
  end

  def page(name, kind, options, mode)
    base = File.join(@folder, name.tr(" ", "-"))
    arguments = [draw(kind, @seed), *options.map { |option| option == "OLD" ? draw("short", @seed + 1) : option }]
    text, err, status = Open3.capture3(RCORE, "report", *arguments)
    raise "rcore report #{arguments.join(" ")}: #{err}" unless status.success?
    system(RCORE, "report", *arguments, "-o", "#{base}.html", "-o", "#{base}.json") or raise "rcore report: #{name}, seed #{@seed}"
    File.write("#{base}.txt", text)
    { name: name, kind: "profile", mode: mode, html: "#{base}.html", json: "#{base}.json", text: "#{base}.txt" }
  end
end
