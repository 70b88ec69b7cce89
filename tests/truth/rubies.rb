# SPDX-License-Identifier: MIT
require_relative "debuggee"

# A Ruby of tests/packages/rubies: the machine's own, or one in a folder to chroot into.
class TestRuby
  LIST = File.expand_path("../packages/rubies", __dir__)
  CACHE = ENV["RCORE_CACHE"] || File.join(ENV["XDG_CACHE_HOME"] || File.join(Dir.home, ".cache"), "rcore")

  attr_reader :name, :program, :root

  def self.all
    return [OwnRuby.new(ENV["RCORE_RUBY"])] if ENV["RCORE_RUBY"]
    File.readlines(LIST, chomp: true).reject { |line| line.start_with?("#") }.map do |line|
      name, folder, suite, program, = line.split
      new(name, folder, suite, program)
    end
  end

  # Returns the Ruby of that name, or aborts. If it is nil, returns one of each version, because most tests learn nothing from a
  # second build.
  def self.chosen(name)
    chosen = all.select { |ruby| name ? ruby.name == name : !ruby.name.include?("-sid") }
    chosen.empty? ? abort("no Ruby #{name}: there are #{all.map(&:name).join(", ")}") : chosen
  end

  def initialize(name, folder, suite, program)
    @name, @suite, @program = name, suite, program
    @folder = File.join(CACHE, "rubies", folder)
    @root = name == folder && File.executable?(program) ? "" : @folder
  end

  # Those of the list have no debug information.
  def without_table(_rcore) = nil

  # Returns nil if it can run, otherwise why not.
  def missing
    return if File.executable?(File.join(@root, @program))
    return "no Ruby #{@name}: `make setup-tests` makes #{@folder}" unless File.directory?(@folder)
    "#{@folder} has no #{@program}: Debian's #{@suite} no longer has it"
  end

  def version
    @version ||= Gem::Version.new(IO.popen(command(["-e", "print RUBY_VERSION"]), &:read))
  end

  # The JITs that it can compile with, as its options name them.
  def jits
    %w[yjit zjit].select do |jit|
      system(*command(["--#{jit}", "-e", "exit RubyVM.const_get(:#{jit.upcase}).enabled?"]), %i[out err] => File::NULL)
    end
  end

  def machine
    "x86_64"
  end

  # What runs this Ruby in `directory` (as it sees it), with only this
  # `environment`.
  def command(arguments, directory: "/", environment: {})
    clean = ["env", "-i", "PATH=/usr/bin:/bin", "HOME=/", "LANG=C.UTF-8", *environment.map { |pair| pair.join("=") }]
    shell([*clean, @program, *arguments], directory: directory)
  end

  # What runs a command in the root folder of this Ruby.
  def shell(command, directory: "/")
    inside = ["/bin/sh", "-c", 'cd "$0" && exec "$@"', directory, *command]
    return inside if @root.empty?
    return ["chroot", @root, *inside] if Process.uid.zero?
    ["sudo", "-n", "chroot", "--userspec=#{Process.uid}:#{Process.gid}", @root, *inside]
  end

  # The path here of a path that this Ruby sees.
  def outside(path)
    File.join(@root.empty? ? "/" : @root, path)
  end

  # The options by which rcore finds its files.
  def files
    @root.empty? ? [] : ["--sysroot", @root]
  end

  # What runs a fixture on it, and how a core of it can be made.
  def debuggee
    Debuggee
  end

  def endings
    %i[abort stop sleep]
  end

  # Headers and compiler flags for an extension; nil without ruby-dev.
  def build_flags
    code = 'c = RbConfig::CONFIG; h = c["rubyhdrdir"]; ' \
           'print File.exist?(h + "/ruby.h") ? ["-I#{h}", "-I#{c["rubyarchhdrdir"]}"].join(" ") : ""'
    flags = IO.popen(command(["-rrbconfig", "-e", code]), &:read).split
    flags unless flags.empty?
  end
end

# A Ruby that the user has built, instead of those of tests/packages/rubies:
# RCORE_RUBY=path/to/ruby. Its environment:
# RCORE_RUBY_ENV="LD_PRELOAD=libjemalloc.so.2 RUBY_MN_THREADS=1". Where its
# headers are, if it is not installed: RCORE_RUBY_CFLAGS="-I... -I...". Strip it
# and its libruby: of a Ruby with debug information, rcore takes no table.
class OwnRuby < TestRuby
  def initialize(program)
    super(ENV["RCORE_RUBY_NAME"] || program, "none", nil, File.expand_path(program))
    @root = ""
  end

  def missing
    "no Ruby #{@program}" unless File.executable?(@program)
  end

  def command(arguments, directory: "/", environment: {})
    own = ENV.fetch("RCORE_RUBY_ENV", "").split.to_h { |pair| pair.split("=", 2) }
    super(arguments, directory: directory, environment: own.merge(environment))
  end

  def build_flags
    ENV["RCORE_RUBY_CFLAGS"]&.split || super
  end

  # Returns why its table is not tested; nil if it is.
  def without_table(rcore)
    code = 'c = RbConfig::CONFIG; print c["ENABLE_SHARED"] == "yes" ? "#{c["libdir"]}/#{c["LIBRUBY_SO"]}" : RbConfig.ruby'
    file = IO.popen(command(["-rrbconfig", "-e", code]), &:read)
    "rcore takes the layout from the debug information of #{file}, and no table: `strip #{file}` first" if system(rcore, "layout", file, %i[out err] => File::NULL)
  end
end
