# SPDX-License-Identifier: MIT
require "etc"
require "open3"
require_relative "../support/draw"
require_relative "crash"

# Runs each way to die of programs/crash, on two Rubies that each run draws. Compares the cause that rcore reports with
# what the program wrote before it died, and checks the frame to blame. A signature must be that of one kind of crash, on
# all Rubies and after any edit.
class Crashes
  RCORE = ENV["RCORE"] || File.expand_path("../../build/rcore", __dir__)
  KINDS = File.read(File.join(Crash::PROGRAMS, "crash/main.rb")).scan(/^  "(\w+)" => /).flatten.freeze
  # Where no handler of Ruby's got the processor's error code, the instruction
  # shows the access.
  BY_INSTRUCTION = %w[null_write null_read null_call vector_write vector_read non_canonical read_only data_call].freeze
  # Ways to die that have the same stack and the same signal in pairs: for a
  # signature, they are the same crash.
  ALIKE = %w[unmapped no_access freed_slot read_only code non_canonical live_slot].freeze

  # In the middle of a compaction, 2.7 has not updated the names in its own
  # frames, and its handler dies of that, too. Its rb_bug() also saves other
  # arguments over the format that libffi left.
  UNREADABLE = [%w[2.7 moved_slot], %w[2.7 bug_of_libffi]].freeze

  Job = Struct.new(:ruby, :kind, :how) do
    def to_s
      [kind, how, "on #{ruby.name}"].compact.join(" ")
    end
  end

  def initialize(tally)
    @tally = tally
    @lock = Mutex.new
    @signatures = Hash.new { |hash, kind| hash[kind] = {} }
  end

  def run(rubies)
    queue = Queue.new
    jobs(rubies).each { |job| queue << job }
    queue.close
    workshops = rubies.to_h { |ruby| [ruby, Workshop.new(ruby, Crash::PROGRAMS)] }
    Array.new(Etc.nprocessors) { Thread.new { work(queue, workshops) } }.each(&:join)
    workshops.each_value(&:close)
    across_rubies
    across_kinds
  end

  private

  def jobs(rubies)
    ways = KINDS.map { |kind| [kind, nil] } + BY_INSTRUCTION.map { |kind| [kind, "by its instruction"] } + EDITS.map { |how, edit| [edit[:kind] || "null_write", how] }
    ways.flat_map do |kind, how|
      readable = rubies.reject { |ruby| UNREADABLE.include?([ruby.name, kind]) }
      # One crash and its edits have the same signature on one Ruby, so all are on the same ones.
      Draw.of(readable, 2, kind).map { |ruby| Job.new(ruby, kind, how) }
    end
  end

  def work(queue, workshops)
    while (job = queue.pop)
      begin
        test(job, workshops[job.ruby])
      rescue Debuggee::Failed, JSON::ParserError => error
        @tally.note(job, [error.message])
      end
    end
  end

  def test(job, workshop)
    edit = EDITS[job.how]
    environment = edit ? edit[:environment] : {}
    environment = { "DEFAULT_SIGNALS" => "1" } if job.how == "by its instruction"
    Crash.of(workshop, job.ruby, "crash", job.kind, environment: environment, edit: edit && edit[:edit]) do |crash|
      report = ask("analyze", crash)
      compare(job, crash.truth, report)
      fold(job, crash) if job.kind == "outside_overflow"
      fold_explain(job, crash) if job.how == "after a deeper recursion"
      keep(job, edit, report["signature"], ask("explain", crash)) unless job.how == "by its instruction"
    end
  end

  def ask(command, crash)
    out, err, status = Open3.capture3(RCORE, command, "--json", crash.core, *crash.files, binmode: true)
    raise Debuggee::Failed, "rcore #{command}: #{status}: #{err}" unless err.empty? && status.exitstatus < 2
    JSON.parse(out.force_encoding("UTF-8"), max_nesting: false)
  end

  def print(command, crash, *options)
    Open3.capture2e(RCORE, command, crash.core, *crash.files, *options, binmode: true)[0]
  end

  # A thread without Ruby that died comes first. Its recursion is printed once,
  # with its count.
  def fold(job, crash)
    text = print("analyze", crash)
    stack = text[/^\* LWP \d+  runs no Ruby thread\n(?: .*\n)*/].to_s.lines
    first = text.index(stack.join).to_i < text.index(/^T1 /).to_i && print("bt", crash).start_with?(stack.join) &&
            print("bt", crash, "--thread", stack[0].to_s[/\d+/].to_s) == stack.join
    @tally.note("first of #{job}", first ? [] : [print("bt", crash)])
    markdown = print("analyze", crash, "--format=markdown")
    shown = "<details open><summary>#{stack[0].to_s[/LWP .*/]}</summary>\n\n```\n#{stack.join}```\n\n</details>\n<details><summary>T1 "
    @tally.note("Markdown of #{job}", markdown.include?(shown) ? [] : [markdown])
    folded = stack.size < 20 && stack.grep(/the same (?:frame|\d+ frames) [\d,]+ more times/).size == 1
    @tally.note("folds of #{job}", folded ? [] : ["#{stack.size} lines: #{stack.first(5).join}"])
  end

  def fold_explain(job, crash)
    folded = [[], ["--all"]].map { |options| print("explain", crash, *options).match?(/the same frame [\d,]+ more times/) }
    @tally.note("folds of #{job}", folded == [true, false] ? [] : [folded.inspect])
  end

  # Why an address without a file counts, and a C method of an extension.
  def reasons(job, explained)
    wanted = { nil => ["unknown", "strict only: no file is mapped at this address"],
               "Culprit.pass" => ["extension", "strict only: a C method of a native extension"] }
    found = explained["frames"].map { |frame| frame.values_at("name", "origin", "why") }
    @tally.note("reasons of #{job}", wanted.reject { |name, reason| found.include?([name, *reason]) }.map { |each| "#{each} is not in #{found}" })
  end

  def compare(job, truth, report)
    cause = report["cause"] || {}
    @tally.note(job, [*Cause.new(truth, cause, job).differences, *blame(job, report["blame"] || {})])
  end

  def blame(job, blame)
    wanted = if job.how == "in a gem" then ["extension", "errand-1.2.3", nil]
             elsif job.how == "through a gem" then ["application", nil, "errand-1.2.3"]
             elsif job.kind.start_with?("outside") then ["extension", nil, nil]
             elsif job.kind == "binstub" then ["gem", "errand-1.2.3", nil]
             elsif job.kind.start_with?("killed") then [nil, nil, nil]
             elsif job.kind == "bug_of_libffi" then ["application", nil, "fiddle.so"]
             else ["application", nil, "culprit.so"]
             end
    found = [*blame.values_at("origin", "gem"), blame["native"]&.slice(/\A(.+): \w+\z/, 1)]
    found == wanted && blame.empty? == job.kind.start_with?("killed") ? [] : ["blame: #{blame}"]
  end

  def keep(job, edit, signature, explained)
    @tally.note("explain of #{job}", explained["frames"].reject { |frame| frame["why"] }.map { |frame| "no reason: #{frame}" })
    reasons(job, explained) if job.kind == "null_call"
    return @tally.note("signature of #{job}", ["none"]) unless signature
    @lock.synchronize { @signatures[[job.kind, job.how]][job.ruby.name] = [signature, explained, edit] }
  end

  # The loose form: of one crash on every Ruby, before and after edits.
  def across_rubies
    @signatures.group_by { |(kind, how), _| how == "in a gem" ? "#{kind} in a gem" : kind }.each do |kind, runs|
      all = runs.flat_map { |(_, how), by_ruby| by_ruby.map { |ruby, (signature, explained, edit)| ["#{how} on #{ruby}", signature, explained, edit, ruby] } }
      loose = all.group_by { |_, signature, *| signature["loose"] }
      @tally.note("one loose signature of #{kind}", loose.size == 1 ? [] : loose.map { |hash, some| "#{hash}: #{some.map(&:first).join(', ')}: #{some[0][2]['loose_text'].inspect}" })
      all.group_by(&:last).each do |ruby, some|
        strict = some.reject { |each| each[3] && each[3][:loose] }.group_by { |_, signature, *| signature["strict"] }
        @tally.note("one strict signature of #{kind} on #{ruby}", strict.size == 1 ? [] : strict.map { |hash, each| "#{hash}: #{each.map(&:first).join(', ')}: #{each[0][2]['strict_text'].inspect}" })
      end
    end
  end

  # Another crash has another signature, in both forms.
  def across_kinds
    %w[loose strict].each do |form|
      kinds = @signatures.reject { |(kind, how), _| how || ALIKE.include?(kind) }
      met = Hash.new { |hash, key| hash[key] = [] }
      kinds.each { |(kind, _), by_ruby| by_ruby.each_value { |signature,| met[signature[form]] |= [kind] } }
      kinds.each_key { |(kind, _)| @tally.note("the #{form} signature of #{kind} is its own", met.values.select { |some| some.size > 1 && some.include?(kind) }.map(&:inspect)) }
    end
  end

  # Changes to the folder of a program before it runs. loose: the strict form
  # may change.
  EDITS = {
    "with lines moved" => { environment: {}, edit: lambda { |folder|
      sources(folder).each { |path| File.write(path, "# Another line.\n" * 7 + File.read(path)) }
    } },
    "in other folders" => { environment: {}, edit: lambda { |folder|
      program = File.join(folder, "crash")
      move(program, "app", "srv/app-2.0/current")
      move(program, "gems", "vendor/bundle/ruby/9.9.0/gems")
      change(program, "main.rb", "app/worker", "srv/app-2.0/current/worker")
      change(program, "srv/app-2.0/current/worker.rb", "../gems", "../../../vendor/bundle/ruby/9.9.0/gems")
    } },
    "in a file of another name" => { loose: true, environment: {}, edit: lambda { |folder|
      program = File.join(folder, "crash")
      move(program, "app/worker.rb", "app/laborer.rb")
      change(program, "main.rb", "app/worker", "app/laborer")
    } },
    "a block deeper" => { environment: {}, edit: lambda { |folder|
      change(File.join(folder, "crash"), "app/worker.rb", "[1].each { |_| descend(depth) }", "[1].each { |_| [2].each { |_| [3].each { |_| descend(depth) } } }")
    } },
    "after a deeper recursion" => { environment: { "DEPTH" => "77" }, edit: ->(_) {} },
    "through a gem" => { environment: {}, edit: lambda { |folder|
      program = File.join(folder, "crash")
      move(program, "../ext/culprit.so", "gems/errand-1.2.3/lib/culprit.so")
      change(program, "main.rb", "../ext/culprit", "gems/errand-1.2.3/lib/culprit")
    } },
    # The program of a gem, which a script starts.
    "of a gem" => { kind: "binstub", environment: {}, edit: lambda { |folder|
      program = File.join(folder, "crash")
      write(program, "main.rb", 'exec(RbConfig.ruby, "bin/errand")')
      write(program, "bin/errand", 'load File.expand_path("../gems/errand-1.2.3/exe/errand", __dir__)')
      write(program, "gems/errand-1.2.3/exe/errand", <<~'RUBY')
        File.write("truth.json", '{"signal":"SIGABRT"}')
        Process.kill(:ABRT, Process.pid)
        sleep
      RUBY
    } },
    "in a gem" => { environment: { "OUTSIDE" => "1" }, edit: lambda { |folder|
      program = File.join(folder, "crash")
      move(program, "../ext/culprit.so", "gems/errand-1.2.3/lib/culprit.so")
      change(program, "main.rb", "../ext/culprit", "gems/errand-1.2.3/lib/culprit")
      change(program, "main.rb", "Culprit.write_to(0x28)", "Culprit.crash_outside(0x28)")
    } },
  }.freeze

  class << self
    def sources(folder)
      Dir[File.join(folder, "crash/**/*.rb")]
    end

    def move(program, from, to)
      target = File.join(program, to)
      FileUtils.mkdir_p(File.dirname(target))
      FileUtils.mv(File.join(program, from), target)
    end

    def write(program, file, text)
      path = File.join(program, file)
      FileUtils.mkdir_p(File.dirname(path))
      File.write(path, text)
    end

    def change(program, file, from, to)
      path = File.join(program, file)
      text = File.read(path)
      raise Debuggee::Failed, "#{file} has no #{from}" unless text.include?(from)
      File.write(path, text.gsub(from, to))
    end
  end

  # The cause that rcore reports against the truth of the debuggee.
  class Cause
    def initialize(truth, cause, job)
      @truth, @cause, @job = truth, cause, job
      @fault = cause["fault"] || {}
    end

    def differences
      checks = { "signal" => [@truth["signal"], (@cause["original"] || @cause)["signal"]], "in_gc" => [@truth["gc"], @cause["in_gc"]] }
      %w[bug].each { |key| checks[key] = [@truth[key], @cause[key]] }
      checks["sender"] = [@truth["sender"], (@cause["original"] || @cause)["sender_pid"]] if @truth["sender"]
      checks["from outside"] = [@truth.key?("sender"), @cause["from_outside"] == true]
      checks["exception"] = [@truth["exception"], (@cause["exception"] || {}).values_at("class", "message")] if @truth["exception"]
      checks["out of memory"] = [!@truth["out_of_memory"].nil?, !@cause["out_of_memory"].nil?]
      checks["stack overflow"] = [!@truth["overflow"].nil?, !@cause["stack_overflow"].nil?]
      checks.update(of_fault) if @truth["access"]
      wrong = checks.reject { |_, (wanted, found)| wanted == found }.map { |what, (wanted, found)| "#{what}: #{found.inspect} instead of #{wanted.inspect}" }
      wrong << "no sender: #{@cause["text"]}" unless !@truth["sender"] || @cause["text"].to_s.include?(", sent by process #{@truth["sender"]}")
      wrong + [has("place", @fault["text"]), has("abort_message", @cause["abort_message"]), held].compact
    end

    private

    def of_fault
      known = @job.how == "by its instruction" ? ["the instruction", "the program counter"] : ["the processor", "the instruction"]
      known = known.first unless @job.kind == "non_canonical" || @job.kind.end_with?("_call")
      source = @fault["access_known_by"]
      checks = { "access" => [@truth["access"], @fault["access"]], "access known by" => [true, Array(known).include?(source)] }
      checks["address"] = [format("0x%x", @truth["address"]), @fault["address"]] if @truth["address"]
      checks
    end

    def has(key, found)
      "#{key}: #{found.inspect} has no #{@truth[key].inspect}" if @truth[key] && !found.to_s.include?(@truth[key])
    end

    def held
      return unless @truth["object"]
      wanted = [format("0x%x", @truth["object"]), @truth["type"]]
      slots = (@fault["registers"] || []).map { |register| register.values_at("slot", "slot_type") }
      "registers: #{slots} instead of #{wanted}" unless slots.include?(wanted)
    end
  end
end
