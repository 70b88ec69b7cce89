# SPDX-License-Identifier: MIT
require "open3"
require_relative "../support/child"

# A GDB: the machine's own, or one in a folder, which runs from there as it is.
class Debugger
  CACHE = File.join(TestRuby::CACHE, "debuggers")
  SCRIPT = File.expand_path("../../gdb/rcore-gdb.py", __dir__)
  LIBRARY = File.expand_path(ENV["RCORE_LIBRARY"] || File.join(__dir__, "../../build/librcore.so"))

  # Seconds. A condition of a breakpoint reads the process each time that any
  # fiber comes there, and a busy machine is slow.
  TIMEOUT = 2 * Child::LIMIT
  TIMED_OUT = 124 # the status of timeout(1)
  # What GDB says of a core of a machine whose registers it does not all know.
  UNKNOWN_REGISTERS =
    /^\n?warning: (?:Section `\.reg-xstate.*' in core file too small|Unexpected size of section `\.reg-xstate.*' in core file)\.\n/

  attr_reader :name

  def self.all
    @all ||= [new("gdb", nil), new("gdb of trixie", "gdb-trixie"), new("gdb of sid", "gdb-sid")]
  end

  # Reads programs of other machines too.
  def self.multiarch
    @multiarch ||= new("gdb-multiarch", nil, "gdb-multiarch")
  end

  def initialize(name, folder, program = "gdb")
    @name, @root, @program = name, folder && File.join(CACHE, folder), program
  end

  def own?
    @root.nil?
  end

  def missing
    return "no #{@name}: `make setup-tests` makes #{@root}" unless @root.nil? || File.directory?(@root)
    "no #{@program}: `make setup-tests` installs it" unless ENV["PATH"].split(":").any? { |bin| File.executable?(File.join(bin, @program)) }
  end

  # Runs GDB, then its commands. Returns what each of them printed, on either
  # stream, in order.
  def run(commands, arguments = [], before: [])
    marked = commands.flat_map { |line| ["python print('\\n=== next', flush=True)", line] }
    out = raw(marked + ["python print('\\n=== end', flush=True)"], arguments, before: before)
    pieces = out.split(/\n=== (?:next|end)\n/, -1).drop(1).first(commands.size)
    raise "GDB ended early, after #{pieces.size} of #{commands.size} commands: #{out.lines.last(5).join}" unless pieces.size == commands.size
    pieces
  end

  # All that it prints.
  def raw(commands, arguments = [], before: [])
    out, status = Open3.capture2e(environment, "timeout", "--kill-after=5", TIMEOUT.to_s, *program, "-nx", "-q", "-batch",
                           "-iex", "set debuginfod enabled off", "-iex", "set auto-load off", "-iex", "set width 0",
                           "-iex", "set height 0", "-iex", "source #{SCRIPT}", *before.flat_map { |line| ["-ex", line] },
                           *commands.flat_map { |line| ["-ex", line] }, *arguments, binmode: true, stdin_data: "")
    raise "GDB still ran after #{TIMEOUT} seconds: #{out.scrub.lines.last(5).join}" if status.exitstatus == TIMED_OUT
    out.force_encoding("UTF-8").gsub(UNKNOWN_REGISTERS, "")
  end

  private

  def environment
    own = { "RCORE_LIBRARY" => LIBRARY, "LC_ALL" => "C.UTF-8" }
    own["PYTHONHOME"] = File.join(@root, "usr") if @root
    own
  end

  # A folder's programs run with its own C library, unpacked as they are.
  def program
    return [@program] unless @root
    folders = %w[usr/lib/x86_64-linux-gnu lib/x86_64-linux-gnu].map { |folder| File.join(@root, folder) }
    [File.join(@root, "usr/lib64/ld-linux-x86-64.so.2"), "--library-path", folders.join(":"), File.join(@root, "usr/bin/gdb"),
     "--data-directory", File.join(@root, "usr/share/gdb")]
  end
end
