# SPDX-License-Identifier: MIT
require "open3"

# What rcore adds to GDB and LLDB: what their help lists with it and not without it.
module Debuggers
  HELP = / +-- /.freeze
  FOLDER = File.expand_path("../..", __dir__)
  GDB = %w[gdb -nx -q -batch].freeze
  LLDB = %w[lldb-19 --no-lldbinit -b].freeze
  # LLDB calls it for a value that it prints.
  CALLBACKS = %w[ruby_summary].freeze

  module_function

  # As a page names them: "ruby-threads", "rp", "set ruby frames", "ruby_self()".
  def names = @names ||= (gdb + lldb).uniq

  def gdb
    found = added(GDB, "-ex", "source #{FOLDER}/gdb/rcore-gdb.py", "-ex", "help all").flat_map { |name| name.split(", ") }
    # "ruby threads" is short for ruby-threads, and each setting is also shown.
    found = found.reject { |name| name == "ruby" || name.end_with?("set ruby", "show ruby") || name.match?(/\A(?:ruby|show ruby) /) }
    found.map { |name| name.sub(/\Afunction (\w+)/, '\1()') }
  end

  def lldb
    import = "command script import #{FOLDER}/lldb/rcore_lldb.py"
    list = "script print(*(name for name, value in vars(rcore_lldb).items() if type(value).__name__ in ('function', 'method') and name[0] != '_'))"
    functions = output(LLDB, "-o", import, "-o", list)[/^[a-z_ ]+$/].to_s.split - CALLBACKS
    added(LLDB, "-o", import, "-o", "help") - ["ruby"] + functions.map { |name| "#{name}()" }
  end

  # The last two of the arguments print the help.
  def added(debugger, *arguments)
    with, without = [arguments, arguments.last(2)].map { |words| output(debugger, *words).lines.grep(HELP).map { |line| line.split(HELP).first.strip } }
    found = with - without
    found.size > 10 ? found : raise("#{debugger.first} lists only #{found}")
  end

  def output(debugger, *arguments)
    library = File.join(File.dirname(RCORE), "librcore.so")
    Open3.capture2e({ "RCORE_LIBRARY" => library, "LC_ALL" => "C.UTF-8" }, *debugger, *arguments).first
  end

  # What a page names in backquotes, outside of blocks of code: `ruby-fiber T1.F7`, `set ruby frames off`, `ruby_state(KEY)`.
  def names_of(page)
    quoted = Pages.read(page).gsub(/^ *```.*?^ *```/m, "").scan(/`([^`]+)`/).flatten.map { |text| text.gsub(/\s+/, " ") }
    quoted.flat_map { |text| [text, text[/\Aruby-\w+/], text[/\Aset ruby [\w-]+/], text[/(\w+)\(/, 1]&.+("()")] }.compact.uniq
  end

  def wrong
    page = names_of("docs/debuggers.md")
    commands = names.grep(/\Aruby-/).map { |name| name.delete_prefix("ruby-") } + %w[profiler frames] # a gem, and GDB's name of a filter
    [*(names - page).map { |name| "docs/debuggers.md lacks #{name}, which a debugger has" },
     *(Pages.text.scan(/\bruby-([a-z]+)\b/).flatten.uniq - commands).map { |name| "there is no ruby-#{name}" },
     *(Pages.flat("docs/debuggers.md").scan(/\b(ruby_[a-z]+)\(/).flatten.uniq.map { |name| "#{name}()" } - names).map { |name| "there is no function #{name}" }]
  end
end
