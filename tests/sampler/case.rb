# SPDX-License-Identifier: MIT
require_relative "../live/case"
require_relative "ticks"

# A test of `rcore record`.
class SamplerCase < LiveCase
  # A recording, as `rcore report -o FILE.json` has it.
  class Recording
    attr_reader :totals, :achieved, :engine, :facts, :duration, :path, :processes

    # path: the file itself, which also says when rcore looked.
    def initialize(json, path = nil)
      @path = path
      @duration = json.dig("sums", "duration")
      @functions, @nodes, @threads, @totals = json.values_at("functions", "nodes", "threads", "totals")
      @processes = json["processes"].select { |process| process["samples"].positive? }
      @achieved = Float(json["facts"].fetch("achieved", 0))
      @facts = json["facts"]
      @engine = @facts["engine"]
    end

    def ticks
      @ticks ||= Ticks.new(@path, @facts["started"])
    end

    # Labels, outermost first.
    def stack(total)
      frames(total).map { |frame| frame["label"] }
    end

    # From the outermost.
    def frames(total)
      frames = []
      node = total["node"]
      while node && node != 0
        frames.unshift(@functions[@nodes[node]["function"]].merge("line" => @nodes[node]["line"]))
        node = @nodes[node]["parent"]
      end
      frames
    end

    def thread(total)
      @threads[total["thread"] || 0]
    end

    def sum(key)
      totals.sum { |total| yield(total) ? total[key] : 0 }
    end
  end

  NOTE = /\A\(.*\)\z/.freeze
  TORN = "(inner frames changed too fast)"

  def programs
    File.join(__dir__, "programs")
  end

  def environment
    @environment ||= {}
  end

  # Options that each recording of this case has.
  def record_options
    @record_options ||= []
  end

  # [output, errors, exit status]
  def rcore(*arguments)
    out, err, status = Open3.capture3(environment, *ROOT, Suite::RCORE, *arguments.map(&:to_s), binmode: true)
    [out.force_encoding("UTF-8"), err.force_encoding("UTF-8"), status.exitstatus || status.inspect]
  end

  def read(path)
    json = "#{path}.json"
    _, err, status = rcore("report", path, "-o", json)
    raise Debuggee::Failed, "no report (#{status}): #{err}" unless File.exist?(json)
    Recording.new(JSON.parse(File.read(json), max_nesting: false), path)
  end

  def record(ruby, pid, *options)
    path = File.join(folder, "#{rand(1 << 60)}.rec")
    _, err, status = rcore("record", "-p", pid, "-o", path, *ruby.files, *options, *record_options)
    raise Debuggee::Failed, "no recording (#{status}): #{err}" unless status.zero? && File.exist?(path)
    read(path)
  end

  # Records until the block, which works meanwhile, has ended. The block gets
  # the paths of the recording and of the messages of rcore.
  def record_while(ruby, pid, *options)
    path = File.join(folder, "while.rec")
    log = File.join(folder, "while.log")
    recorder = Process.spawn(environment, *ROOT, Suite::RCORE, "record", "-p", pid.to_s, "-o", path, *ruby.files, *options.map(&:to_s), *record_options, %i[out err] => log)
    begin
      wait_until("recording: #{File.read(log)}") { File.exist?(path) || Process.wait(recorder, Process::WNOHANG) }
      yield path, log
    ensure
      Child.signal(:INT, recorder)
      status = Child.wait(recorder)
    end
    raise Debuggee::Failed, "no recording (#{status}): #{File.read(log)}" unless File.exist?(path)
    read(path)
  end
end
