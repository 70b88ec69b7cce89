# SPDX-License-Identifier: MIT
require_relative "../truth/workshop"

# Makes folders with the programs of tests/bpf, and with the extension that stands in for the gem ruby-profiler.
class BpfWorkshop < Workshop
  attr_reader :ruby

  def folder(program)
    @count += 1
    made = File.join(@directory, @count.to_s)
    FileUtils.mkdir_p(File.join(made, "ext"))
    File.chmod(0o777, made)
    FileUtils.cp([program, "state.rb", "requests.rb"].map { |name| File.join(BpfCase::PROGRAMS, name) }, made)
    FileUtils.cp(extension, File.join(made, "ext"))
    inside(made)
  end

  def remove
    FileUtils.rm_rf(@directory)
  end
end
