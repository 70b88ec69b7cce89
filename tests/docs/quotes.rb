# SPDX-License-Identifier: MIT
require "set"

# Checks what pages quote from the program: messages, help and lines of reports. Two neighbouring words of a quote must
# be neighbours in a string of the source, or the last word of one string and the first of another. In the lines that an
# example prints, a conversion such as %s may stand for one of the two.
module Quotes
  SOURCES = ["analyzer/**/*.{c,h,def,js,json}", "{plugin,gdb,lldb,gem}/**/*.{py,rb}", "ci/*"].freeze

  # Commands and messages of other programs, or of the program that an example looks at.
  FOREIGN = [
    /\A(?:rcore|make|gem|apt|apt-get|docker|podman|crictl|cat|git|bundle|kubectl|cc|ulimit|dpkg|gpg|go tool|objdump|strace|man|install|coredumpctl|readlink|curl|junit|debugfs)\b/,
    /\A(?:ruby-|help ruby|info |--|auto-load |heap |scripts\/)/, # commands of GDB, options: other checks cover them
    /\A(?:Basic authentication|invalid password for bob|SET PASSWORD FOR bob|password is )/,
  ].freeze
  WORD = /\A[a-z]+(?:-[a-z]+)*\z/
  FIRST = /\A(?:counting|\s*\d+ bytes +\d+ calls)/ # of examples/bpf/writes
  THEIRS = %w[app core request cart shop bob acme held item name puma demo].freeze # names in programs of examples

  module_function

  def literals(file)
    text = File.read(file)
    return text.gsub(/"\s*\n\s*f?"/, "") unless file.match?(/\.(?:c|h|def)\z/)
    text.gsub(%r{/\*.*?\*/}m, " ").gsub(/" *PRI\w+ *"/, "d").gsub(/"\s*\n?\s*"/, "").scan(/"((?:[^"\\\n]|\\.)*)"/).flatten.join("\n")
  end

  def pairs
    @pairs ||= Dir.chdir(Pages::TOP) do
      Dir[*SOURCES].select { |file| File.file?(file) }.flat_map do |file|
        literals(file).gsub('\\"', '"').gsub('\\n', " \n").downcase.gsub(/%[-+ #0-9.*]*[lzhj]*[a-z]/, " % ")
                      .scan(/[a-z]+(?:[-'][a-z]+)*|%|[^\sa-z]|\n/).each_cons(2).to_a
      end.to_set
    end
  end

  # Pairs of words in a text that the program cannot print. A line of an example has names that conversions print.
  def strange(line, is_line)
    # Columns are two spaces apart.
    words = line.gsub(/0x\h+(?:\.\.\.)?/, "0").gsub(/ {2,}/, " | ").scan(/[A-Za-z_]+(?:[-'.:#\/\w]*\w)?|\d[\w.]*|[^\s\w]/)
    words.each_cons(2).reject do |left, right|
      !left.match?(WORD) || !right.match?(WORD) || THEIRS.include?(left) || THEIRS.include?(right) ||
        pairs.include?([left, right]) || [[left, "%"], ["%", right]].any? { |pair| is_line && pairs.include?(pair) } ||
        [[left, "\n"], ["\n", right]].all? { |pair| pairs.include?(pair) }
    end
  end

  # [place, text] of each text of several words in backquotes, and of each line that an example prints.
  def all
    quoted = Pages::READERS.flat_map do |page|
      Pages.read(page).gsub(/^ *```.*?^ *```/m, "").gsub(/\s+/, " ").scan(/`([^`]+)`/).flatten.grep(/ /).map { |text| [page, text] }
    end
    (quoted + Pages.printed_lines).reject { |_, text| FOREIGN.any? { |foreign| text.match?(foreign) } || text.match?(FIRST) }
  end

  def wrong
    all.filter_map do |place, text|
      strange = strange(text, place.include?(":"))
      "#{place}: nothing prints #{strange.map { |pair| "'#{pair.join(" ")}'" }.join(", ")} of: #{text.strip}" unless strange.empty?
    end
  end
end
