# SPDX-License-Identifier: MIT

# Everything that rcore can print about a core, as its help lists it: each command with --redact, its subcommands, its formats and
# the suffixes of its -o. All flags of a command are set, so that it prints as much as it can.
module Outputs
  # These have --redact, but tests/redaction/run runs the first two in another way, and tests/profile, tests/sampler and
  # tests/target/spool.sh test the next four; the last one prints no text of the target.
  OTHERS = %w[pack convert record report top collect bpf-params].freeze
  # These have no --redact: ps prints what ps(1) does, gdb and lldb print what the user asks them, and layout prints where fields are.
  PLAIN = %w[gdb lldb ps layout].push("layout list", "layout diff").freeze
  # Flags that exclude others or require another option. MORE has what they print.
  LEFT_OUT = { "state" => %w[--lines], "heap" => %w[--list], "print" => %w[--id] }.freeze
  LIST = %w[heap --class String --list --limit 0].freeze
  MORE = { "state --lines" => %w[state --lines --all], "heap --list" => LIST, "heap --list --json" => [*LIST, "--json"] }.freeze
  # What a command requires after the core.
  ARGUMENTS = { "heap refs" => ["SECRETS"], "heap diff" => [:core], "print" => [:values] }.freeze
  # Larger than the default.
  LIMITS = { "--max-string" => "10000", "--limit" => "1000" }.freeze

  # suffix: of the file to write; nil: standard output. last: what follows the core.
  Output = Struct.new(:words, :suffix, :last)

  module_function

  def help(*words) = (@help ||= {})[words] ||= IO.popen([RCORE, *words, "--help"], err: %i[child out], &:read)

  def redacted?(words) = help(*words).match?(/^ +--redact=/)

  # ["heap"], ["heap", "refs"] ...
  def commands
    @commands ||= (help.scan(/^  ([a-z-]+) /).flatten - ["rcore"]).flat_map do |command|
      [[command], *help(command).scan(/^       rcore #{command} ([a-z]+)/).flatten.uniq.map { |word| [command, word] }]
    end
  end

  # What is wrong with the lists above.
  def wrong
    names = commands.map { |words| words.join(" ") }
    plain = commands.reject { |words| redacted?(words) }.map { |words| words.join(" ") }
    [*(plain - PLAIN).map { |name| "#{name} has no --redact: add it, or the command to PLAIN if it prints nothing of the target" },
     *((PLAIN - plain) | (OTHERS - names) | (OTHERS & plain)).map { |name| "--help has no #{name}, or --redact is not as PLAIN and OTHERS say" }]
  end

  # By name.
  def all
    found = commands.select { |words| redacted?(words) && !OTHERS.include?(words.first) }
    found.map { |words| of(words) }.reduce(:merge).merge(MORE.transform_values { |words| Output.new(words, nil, []) })
  end

  def of(words)
    name, options = words.join(" "), help(*words)[/^Options:\n(.*?)(?=^\S|\z)/m, 1].to_s
    flags = options.scan(/^(?: {2}-\w, | {6})(--[a-z-]+)(?= {2,}|$)/).flatten - ["--json", *LEFT_OUT[name]]
    limits = LIMITS.select { |option, _| help(*words).match?(/^ {6}#{option}=/) }.flatten
    formats_of(words, options).to_h do |format, suffix|
      [[name, *format, suffix].compact.join(" "), Output.new([*words, *format, *flags, *limits], suffix, ARGUMENTS.fetch(name, []))]
    end
  end

  # [options, suffix of the file]
  def formats_of(words, options)
    if options.match?(/^ +--format=/)
      formats = IO.popen([RCORE, "complete", *words, "--format", ""], &:readlines).map { |line| line.split.first }
      return formats.map { |format| [["--format", format], nil] }
    end
    suffixes = options[/^ +-o, --output=.*?(?=^(?: {2}-| {6}--)|\z)/m].to_s.scan(/(?<=[ (])\.[a-z]\w*(?:\.[a-z]\w*)*/).uniq
    json = options.match?(/^ +-j, --json /) ? [[["--json"], nil]] : []
    [[[], nil], *json, *suffixes.map { |suffix| [[], suffix] }]
  end
end
