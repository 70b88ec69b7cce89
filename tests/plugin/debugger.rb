# SPDX-License-Identifier: MIT
require "open3"

# A GDB: the machine's own, or one in a folder, which runs from there as it is.
class Debugger
  CACHE = File.join(TestRuby::CACHE, "debuggers")
  SCRIPT = File.expand_path("../../gdb/rcore-gdb.py", __dir__)
  LIBRARY = File.expand_path(ENV["RCORE_LIBRARY"] || "../../build/librcore.so", __dir__)

  attr_reader :name

  def self.all
    @all ||= [new("gdb", nil), new("gdb of trixie", "gdb-trixie"), new("gdb of sid", "gdb-sid")]
  end

  def initialize(name, folder)
    @name, @root = name, folder && File.join(CACHE, folder)
  end

  def own?
    @root.nil?
  end

  def missing
    "no #{@name}: `make setup-tests` makes #{@root}" unless @root.nil? || File.directory?(@root)
  end

  # Runs GDB, then its commands. Gives what each of them printed, on either stream, in their order.
  def run(commands, arguments = [], before: [])
    marked = commands.flat_map { |line| ["python print('\\n=== next', flush=True)", line] }
    out, = Open3.capture2e(environment, *program, "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off",
                           "-iex", "set auto-load off", "-iex", "set width 0", "-iex", "set height 0",
                           "-iex", "source #{SCRIPT}",
                           *(before.flat_map { |line| ["-ex", line] }), *arguments,
                           *(marked + ["python print('\\n=== end', flush=True)"]).flat_map { |line| ["-ex", line] },
                           binmode: true, stdin_data: "")
    # Of a core of a machine with more registers than this GDB knows.
    out = out.force_encoding("UTF-8").gsub(/^(?:\n)?warning: Section `\.reg-xstate.*' in core file too small\.\n/, "")
    pieces = out.split(/\n=== (?:next|end)\n/, -1)
    pieces = pieces.drop(1).first(commands.size)
    raise "GDB ended early: #{out.lines.last(5).join}" unless pieces.size == commands.size
    pieces
  end

  private

  def environment
    own = { "RCORE_LIBRARY" => LIBRARY, "LC_ALL" => "C.UTF-8" }
    own["PYTHONHOME"] = File.join(@root, "usr") if @root
    own
  end

  # A folder's programs run with its own C library, unpacked as they are.
  def program
    return ["gdb"] unless @root
    folders = %w[usr/lib/x86_64-linux-gnu lib/x86_64-linux-gnu].map { |folder| File.join(@root, folder) }
    [File.join(@root, "usr/lib64/ld-linux-x86-64.so.2"), "--library-path", folders.join(":"), File.join(@root, "usr/bin/gdb"),
     "--data-directory", File.join(@root, "usr/share/gdb")]
  end
end
