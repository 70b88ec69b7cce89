# SPDX-License-Identifier: MIT
# What the pages for readers contain: blocks, tables, links, names of files, lines with commands.
module Pages
  TOP = File.expand_path("../..", __dir__)
  DOCS = Dir.chdir(TOP) { Dir["docs/*.md"].sort }.freeze
  ALL = ["README.md", "CONTRIBUTING.md", *DOCS].freeze
  READERS = (ALL - ["CONTRIBUTING.md", "docs/tour.md"]).freeze # those that explain the program, not its source

  module_function

  def read(page) = (@read ||= {})[page] ||= File.read(File.join(TOP, page))

  def flat(page) = read(page).gsub(/\s+/, " ")

  def text = ALL.map { |page| flat(page) }.join("\n")

  # Yields the page, the number of each line, the line, and whether it is in a block of code.
  def each_line
    ALL.each do |page|
      in_code = false
      read(page).each_line(chomp: true).with_index(1) do |line, number|
        fence = line.lstrip.start_with?("```")
        in_code = !in_code if fence
        yield "#{page}:#{number}", line, in_code unless fence
      end
    end
  end

  # Each command of rcore that a reader may type: ["docs/live.md:3", ["analyze", "-p", "1234"]].
  def command_lines
    found = []
    each_line do |place, line, in_code|
      if in_code
        found << [place, line[/(?:\A|[\/ |])rcore ([a-z].*)/, 1]] if line.match?(/\A(\$ |\S*\| ?)?(\S*\/)?rcore [a-z]/)
      else
        line.scan(/`(?:\S*\/)?rcore ([a-z][^`]*)`/) { |(rest)| found << [place, rest] }
      end
    end
    found.map { |place, rest| [place, rest.sub(/ +#.*/, "").sub(/ [|>] .*/, "").split] }
  end

  # [place, line] of each line that a block of code without a language shows: what programs print.
  def printed_lines
    found = []
    READERS.each do |page|
      language = nil
      read(page).each_line(chomp: true).with_index(1) do |line, number|
        if line.lstrip.start_with?("```")
          language = language ? nil : line.strip.delete_prefix("```")
        elsif language == "" && !line.match?(/\A(?:\$|\((?:gdb|lldb)\)) /)
          found << ["#{page}:#{number}", line]
        end
      end
    end
    found
  end

  # [place, "--option"] of each option that stands alone in backquotes.
  def options
    found = []
    each_line { |place, line, in_code| line.scan(/`(--[a-z][a-z-]*)/) { |(option)| found << [place, option] } unless in_code }
    found
  end

  # ["page: Heading", text] of each section of the pages for readers, without its blocks of code.
  def sections
    READERS.flat_map do |page|
      read(page).gsub(/^ *```.*?^ *```/m, "").split(/^(?=#+ )/).map { |text| ["#{page}: #{text[/\A#+ (.*)/, 1]}", text.gsub(/\s+/, " ")] }
    end
  end

  # The cells of the first table below a heading, without its head.
  def table(page, heading)
    rows = read(page)[/^#+ #{Regexp.escape(heading)}$(.*?)(?=^\|)((?:^\|[^\n]*\n)+)/m, 2] or raise "#{page} has no table below '#{heading}'"
    rows.lines.drop(2).map { |row| row.gsub("\\|", "\0").split("|").drop(1).map(&:strip)[0..-2] }
  end

  # The block of code that begins with this line, without it.
  def block(page, first)
    read(page)[/^```\w*\n#{Regexp.escape(first)}\n(.*?)^```/m, 1] or raise "#{page} has no block that begins with '#{first}'"
  end

  # What differs each time: addresses, ids of processes and fibers; the processor's own memmove, also called memcpy; spaces between columns.
  def comparable(line)
    line.gsub(/0x[0-9a-f]{6,}/, "ADDRESS").gsub(/\b(pid|LWP) \d+/, '\1 N').gsub(/\bT1\.F[1-9]\d*/, "T1.FN")
        .gsub(/mem(move|cpy)_\w+/, "memcpy").gsub(/\+0x\h+/, "+N").gsub(/(libc\.so\.6) \S+.*/, '\1').squeeze(" ").strip
  end

  # The lines of an example that a program has not printed, in this order. "..." stands for any number of lines, or for
  # the middle of one.
  def missing_lines(example, output)
    printed = output.lines.map { |line| comparable(line) }
    example.lines.map { |line| comparable(line) }.reject { |line| line.empty? || line == "..." }.reject do |line|
      parts = line.split(" ... ")
      at = printed.index { |each| parts.size == 1 ? each == line : each.start_with?(parts.first) && each.end_with?(parts.last) }
      printed = printed.drop(at + 1) if at
      at
    end
  end

  # [place, [file, anchor]] of each link that stays in the repository.
  def links
    found = []
    each_line do |place, line, in_code|
      next if in_code
      line.scan(/\]\(([^)\s]+)\)/) do |(target)|
        next if target.match?(/\A[a-z]+:/)
        file, anchor = target.split("#", 2)
        file = file.empty? ? place[/[^:]+/] : File.join(File.dirname(place[/[^:]+/]), file)
        found << [place, [file.delete_prefix("./").sub("docs/../", ""), anchor]]
      end
    end
    found
  end

  def link_leads?((file, anchor))
    path = File.join(TOP, file)
    File.exist?(path) && (!anchor || anchors(file).include?(anchor))
  end

  # As GitHub makes them of headings.
  def anchors(page)
    read(page).scan(/^#+ (.*)/).flatten.map { |heading| heading.downcase.gsub(/[^\w\- ]/, "").tr(" ", "-") }
  end

  ROOTS = "analyzer|tests|scripts|examples|plugin|gdb|lldb|completion|gem|ci|docs|layout|vm|ruby|proof|redact|image|base|report|command|model|session".freeze

  # [place, path] of each file of the sources that a page names in backquotes.
  def files
    found = []
    each_line do |place, line, in_code|
      next if in_code
      line.scan(/`((?:#{ROOTS})\/[\w.\/+*-]+)/) { |(path)| found << [place, path] unless path.match?(/NAME|VERSION/) }
    end
    found
  end

  # CONTRIBUTING.md and docs/tour.md name files of analyzer/ by their place there.
  def file?(path)
    [path, "analyzer/#{path}", "tests/#{path}"].any? { |each| !Dir[File.join(TOP, each)].empty? }
  end
end
