# SPDX-License-Identifier: MIT
require "fileutils"
require "tmpdir"
require_relative "../support/child"

# A core of program.rb, with or without the objects of plants.rb, and what ObjectSpace.dump_all printed just before.
module CoreOfProgram
  FILES = %w[program.rb plants.rb].freeze

  # The block gets the path of the core, and the folder with the files truth.json and running.
  def self.open(ruby, *words)
    folder = Dir.mktmpdir("rcore-tests.", ruby.outside("/tmp"))
    File.chmod(0o755, folder)
    yield die(ruby, folder, *words), folder
  ensure
    FileUtils.rm_rf(folder) if folder
  end

  def self.die(ruby, folder, *words)
    FILES.each { |name| FileUtils.cp(File.join(__dir__, name), folder) }
    command = ruby.command(["-W0", "program.rb", "truth.json", "running", *words], directory: folder.delete_prefix(ruby.root))
    output = File.join(folder, "output")
    Child.wait(Process.spawn(*command, rlimit_core: Process::RLIM_INFINITY, in: "/dev/null", %i[out err] => output))
    Dir[File.join(folder, "core*")].first or raise "no core:\n#{File.read(output)}"
  end
end
