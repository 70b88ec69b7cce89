# SPDX-License-Identifier: MIT
require "fileutils"
require "tmpdir"

# Copies of tests/fixtures (or a folder like it) where a Ruby can see them, one for each run, with the
# extension built for that Ruby.
class Workshop
  # Its folder of programs.
  attr_reader :fixtures

  def initialize(ruby, fixtures = Fixture::FOLDER)
    @ruby, @fixtures = ruby, fixtures
    @lock = Mutex.new
    @directory = Dir.mktmpdir("rcore-tests.", ruby.outside("/tmp"))
    File.chmod(0o755, @directory)
    @count = 0
  end

  # Returns nil if this Ruby has no headers to build it with.
  def extension
    @lock.synchronize { defined?(@extension) ? @extension : @extension = build_extension }
  end

  # Makes a copy for a run, and returns its path as the Ruby sees it.
  def make(fixture)
    number = @lock.synchronize { @count += 1 }
    folder = File.join(@directory, number.to_s)
    FileUtils.mkdir_p(File.join(folder, "ext"))
    FileUtils.cp_r(Dir[File.join(@fixtures, "*.rb")], folder)
    FileUtils.cp_r(File.join(@fixtures, fixture.name), folder)
    FileUtils.cp(extension, File.join(folder, "ext")) if fixture.options["ext"]
    inside(folder)
  end

  def remove(folder)
    FileUtils.rm_rf(@ruby.outside(folder))
  end

  # Removes the extension, and the folder unless runs were kept in it.
  def close
    FileUtils.rm_rf(File.join(@directory, "built"))
    Dir.rmdir(@directory) if Dir.empty?(@directory)
  end

  private

  def inside(path)
    @ruby.root.empty? ? path : path.delete_prefix(@ruby.root)
  end

  def build_extension
    flags = @ruby.build_flags or return
    built = File.join(@directory, "built")
    FileUtils.cp_r(File.join(@fixtures, "ext"), built)
    Dir[File.join(built, "*.c")].map do |source|
      target = source.delete_suffix(".c") + ".so"
      own = File.read(source)[%r{^/\* gcc: (.*) \*/$}, 1].to_s.split
      gcc = @ruby.shell(["gcc", "-std=gnu17", "-O1", "-g0", "-w", "-shared", "-fPIC", *own, *flags, "-o", inside(target), inside(source)])
      system(*gcc) or raise "cannot build #{source} for Ruby #{@ruby.name}"
      target
    end
  end
end
