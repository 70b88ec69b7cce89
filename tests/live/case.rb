# SPDX-License-Identifier: MIT
require "json"
require "open3"
require "tmpdir"
require "fileutils"
require "timeout"
require_relative "../support/child"

# A test: it has a name, and reports what is wrong.
class LiveCase
  ROOT = Child::ROOT
  TIMEOUT = Child::LIMIT
  # rcore says that it got too little processor time, or that a thread did. It then asks to try again (docs/live.md).
  BUSY = /this machine is busy: try again|reading was not complete when the process was resumed|did not stop in time/.freeze
  LOOKS = 5

  attr_reader :name, :note

  def initialize(name, limit: 4 * TIMEOUT, &test)
    @name, @limit, @test = name, limit, test
    @differences = []
  end

  def run
    Timeout.timeout(@limit) { instance_eval(&@test) }
    @differences
  rescue StandardError => error
    @differences << "#{error.class}: #{error.message} (#{error.backtrace.first})"
  ensure
    FileUtils.rm_rf(@folder) if @folder
  end

  # A temporary folder of this case; `run` removes it.
  def folder
    @folder ||= Dir.mktmpdir("rcore-case.")
  end

  def note=(text)
    @note = " (#{text})"
  end

  def fail(what)
    @differences << what
  end

  def same(what, wanted, found)
    fail("#{what}: #{wanted.inspect} is wanted, not #{found.inspect}") unless wanted == found
  end

  # [output, errors, exit status]
  def rcore(*arguments)
    out, err, status = Open3.capture3(*ROOT, Suite::RCORE, "analyze", *arguments.map(&:to_s), binmode: true)
    [out.force_encoding("UTF-8"), err.force_encoding("UTF-8"), status.exitstatus || status.inspect]
  end

  def report(*arguments)
    out, err, status = looked("--json", *arguments)
    fail("rcore complains: #{err}") unless err.empty?
    [JSON.parse(out, max_nesting: false), status]
  rescue JSON::ParserError => error
    fail("no JSON (status #{status}): #{error.message[0, 200]}, errors: #{err}")
    [nil, status]
  end

  # As rcore, but until the machine was not too busy.
  def looked(*arguments)
    said = nil
    LOOKS.times do
      said = rcore(*arguments)
      break unless said.first(2).any? { |text| text.match?(BUSY) }
    end
    said
  end

  def wait_until(what)
    Timeout.timeout(TIMEOUT) { sleep 0.005 until yield }
  rescue Timeout::Error
    raise Debuggee::Failed, "no #{what} after #{TIMEOUT} seconds"
  end

  # Where the programs are.
  def programs
    __dir__
  end

  # Runs a program of that folder on a Ruby while the block runs. The block gets
  # its process id and a file that counts as long as the program runs.
  def with_program(ruby, program, *arguments, before: [], options: [], environment: {})
    Dir.mktmpdir("rcore-live.", ruby.outside("/tmp")) do |folder|
      File.chmod(0o777, folder)
      FileUtils.cp([File.join(programs, program), File.join(__dir__, "counting.rb")], folder)
      inside = File.join("/tmp", File.basename(folder))
      command = before + ruby.command([*options, program, *arguments.map(&:to_s)], directory: inside, environment: environment)
      spawned = Process.spawn(*command, in: "/dev/null", %i[out err] => [File.join(folder, "output"), "w"], pgroup: true)
      begin
        counter = Counter.new(File.join(folder, "counter"))
        wait_until("sign of life: #{File.read(File.join(folder, "output"))}") { counter.value > 0 }
        yield Integer(File.read(File.join(folder, "pid"))), counter, folder, spawned
      ensure
        Child.stop(spawned, -spawned)
      end
    end
  end

  # The file to which the program writes eight bytes again and again.
  class Counter
    attr_reader :path

    def initialize(path)
      @path = path
    end

    def value
      File.binread(@path).to_i
    rescue Errno::ENOENT
      0
    end
  end

  def goes_on(counter)
    before = counter.value
    wait_until("progress of the program") { counter.value > before + 1 }
  end
end
