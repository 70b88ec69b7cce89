# SPDX-License-Identifier: MIT

# A program of tests/fixtures. A line `#: key=value ...` in its main.rb says:
#   ext                 needs the extension, and so ruby-dev
#   since=3.0 only=3.1  the Rubies it runs on
#   machine=x86_64      and their machine
#   variants=a,b        runs once with each as its argument
#   flags=--a,--b env=A=1,B=2
#   forks=a             the variants in which a child dies
#   analyze=--a,--b     what rcore is told beside --json
#   also=gcore          once more, with the core taken by gcore
#   end=sleep           it does not die: gcore takes the core
class Fixture
  FOLDER = File.expand_path("../fixtures", __dir__)

  attr_reader :name, :options

  def self.all(folder = FOLDER)
    Dir[File.join(folder, "*/main.rb")].map { |path| new(File.basename(File.dirname(path)), folder) }.sort_by(&:name)
  end

  def initialize(name, folder = FOLDER)
    @name = name
    words = File.readlines(File.join(folder, name, "main.rb")).grep(/\A#: /).flat_map { |line| line[3..-1].split }
    @options = words.to_h { |word| word.include?("=") ? word.split("=", 2) : [word, true] }
  end

  def runs_on?(version, machine = "x86_64")
    return false if options["since"] && version < Gem::Version.new(options["since"])
    return false if options["machine"] && machine != options["machine"]
    options["only"].nil? || version.segments.first(2).join(".") == options["only"]
  end

  def variants
    options.key?("variants") ? options["variants"].split(",") : [nil]
  end

  def forks?(variant)
    options.fetch("forks", "").split(",").include?(variant)
  end

  def endings
    return [:sleep] if options["end"] == "sleep"
    options["also"] == "gcore" ? %i[abort stop] : [:abort]
  end

  def flags
    options.fetch("flags", "").split(",")
  end

  def analyze
    options.fetch("analyze", "").split(",")
  end

  def environment
    options.fetch("env", "").split(",").to_h { |pair| pair.split("=", 2) }
  end
end
