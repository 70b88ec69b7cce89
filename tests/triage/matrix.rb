# SPDX-License-Identifier: MIT
require "etc"
require "open3"
require "timeout"
require_relative "../support/draw"
require_relative "crash"
require_relative "../truth/elf_core"

# Cores that hold less than they might, by other producers, and with files that are not theirs: rcore ends by itself with the
# status that matrix.table says, and with no more than one line on standard error.
class Matrix
  RCORE = ENV["RCORE"] || File.expand_path("../../build/rcore", __dir__)
  TABLE = File.join(__dir__, "matrix.table")
  SECONDS = 60

  # One line of the table. allowed: of each Ruby, the statuses that may be.
  Row = Struct.new(:what, :how, :allowed)

  def self.rows
    lines = File.readlines(TABLE, chomp: true).grep_v(/\A#|\A\s*\z/).map(&:split)
    rubies = lines.shift.drop(2)
    lines.map { |what, how, *statuses| Row.new(what, how, rubies.zip(statuses.map { |each| each.split("|").map(&:to_i) }).to_h) }
  end

  def initialize(tally)
    @tally = tally
  end

  def run(rubies)
    rows = Matrix.rows.group_by(&:what)
    listed = rubies.select { |ruby| rows.values.flatten.first.allowed.key?(ruby.name) }
    Draw.of(listed, 2, "matrix").each { |ruby| of_ruby(ruby, rows) }
  end

  private

  def of_ruby(ruby, rows)
    Crash.workshop(ruby) do |workshop|
      rows.fetch("filter").each { |row| filtered(row, ruby, workshop) }
      *producers, lost = rows.fetch("producer")
      producers.each { |row| produced(row, lost, ruby, workshop) }
      Crash.of(workshop, ruby, "crash", "null_write") do |crash|
        rows.fetch("binary").each { |row| binary(row, ruby, crash) }
        cut(rows.fetch("cut"), ruby, crash)
      end
    end
  rescue Debuggee::Failed => error
    @tally.note("the matrix of #{ruby.name}", [error.message])
  end

  def filtered(row, ruby, workshop)
    Crash.of(workshop, ruby, "crash", "null_write", filter: row.how) { |crash| analyze(row, ruby, crash.core, crash.files) }
  end

  # lost: the row for producers that lost memory of the process.
  def produced(row, lost, ruby, workshop)
    Crash.of(workshop, ruby, "crash", row.how == "kernel" ? "null_write" : "wait", producer: row.how) do |crash|
      allowed = (crash.lost.empty? ? row : lost).allowed
      analyze(Row.new(row.what, row.how, allowed), ruby, crash.core, crash.files)
    end
  end

  # The options by which rcore finds the files.
  def binary(row, ruby, crash)
    other = TestRuby.all.find { |each| each.root != ruby.root && !each.root.empty? }
    files = case row.how
            when "none" then ["--sysroot", "/proc/self/fdinfo"] # a folder without them
            when "another-ruby" then ["--sysroot", other.root]
            when "another-executable" then [*crash.files, "/bin/sh"]
            when "no-executable" then [*crash.files, "/nonexistent/ruby"]
            end
    core, *rest = row.how.end_with?("executable") ? [crash.core, files.last, *files[0...-1]] : [crash.core, *files]
    analyze(row, ruby, core, rest)
  end

  # From the largest size down, because nothing restores what was cut off.
  def cut(rows, ruby, crash)
    places = sizes(ElfCore.new(crash.core))
    wanted = rows.flat_map { |row| places.fetch(row.how).map { |size| [size, row] } }
    wanted.sort_by { |size, _| -size }.each do |size, row|
      File.truncate(crash.core, size)
      analyze(row, ruby, crash.core, ["--native=none", *crash.files], " at #{size}")
    end
  end

  # Where a core is cut, by the names of the table.
  def sizes(elf)
    loads = elf.segments.select { |segment| segment.type == ElfCore::PT_LOAD && segment.filesz.positive? }
    edges = loads.flat_map { |segment| [segment.offset, segment.offset + segment.filesz] }.uniq
    headers_end = 64 + elf.segments.size * 56
    { "in-header" => [0, 1, 4, 16, 63], "header" => [64, 65], "in-program-headers" => [headers_end - 1],
      "program-headers" => [headers_end, headers_end + 1], "in-notes" => elf.notes.map(&:at).map { |at| at + 13 },
      "notes" => [elf.head - 1, elf.head, elf.head + 1],
      "segment-edges" => edges.flat_map { |edge| [edge - 1, edge, edge + 1] }.select { |size| size > elf.head && size < elf.size },
      "25%" => [elf.size / 4], "50%" => [elf.size / 2], "75%" => [elf.size * 3 / 4], "99%" => [elf.size * 99 / 100] }
  end

  def analyze(row, ruby, core, files, where = "")
    _, err, status = Timeout.timeout(SECONDS) { Open3.capture3(RCORE, "analyze", core, *files, binmode: true) }
    allowed = row.allowed.fetch(ruby.name)
    wrong = []
    wrong << "status #{status.exitstatus.inspect} (#{status}), not #{allowed.join(' or ')}: #{err}" unless allowed.include?(status.exitstatus)
    wrong << "#{err.lines.size} lines: #{err}" if err.lines.size > 1
    @tally.note("#{row.what} #{row.how}#{where} on #{ruby.name}", wrong)
  rescue Timeout::Error
    @tally.note("#{row.what} #{row.how}#{where} on #{ruby.name}", ["still ran after #{SECONDS} seconds"])
  end
end
