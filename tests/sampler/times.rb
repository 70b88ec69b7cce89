# SPDX-License-Identifier: MIT

# Shares of time, as the programs themselves measured them.
module Times
  SEEDS = 20
  SECONDS = 0.4 # of each, on a processor
  WAITS = 15.0 # seconds
  CROWD = 2000
  # How far a share of a thread's wall time may be off, and how far if rcore got
  # so little time that it missed a tenth of its ticks.
  WAIT_ERROR = 0.02
  BUSY_ERROR = 0.05
  # The share of samples that may lack inner frames. On a busy machine, up to 0.002 did.
  MOST_TORN = 0.05
  # So small that none of thousands of runs fails by chance.
  LEAST_P = 1e-6

  def self.cases(rubies)
    rubies.flat_map do |ruby|
      [
        SamplerCase.new("waits #{ruby.name}") { Times.waits(self, ruby) },
        SamplerCase.new("callers #{ruby.name}") { Times.callers(self, ruby) },
        SamplerCase.new("gvl #{ruby.name}") { Times.gvl(self, ruby) },
        SamplerCase.new("shares #{ruby.name}") { Times.shares(self, ruby) },
        SamplerCase.new("shares busy #{ruby.name}") { Times.beside_another { Times.shares(self, ruby) } },
        SamplerCase.new("fibers #{ruby.name}") { Times.fibers(self, ruby) },
        SamplerCase.new("brief fibers #{ruby.name}") { Times.brief(self, ruby) },
        SamplerCase.new("many fibers #{ruby.name}") { Times.crowd(self, ruby) },
        SamplerCase.new("cluster #{ruby.name}") { Times.cluster(self, ruby) },
        SamplerCase.new("queued #{ruby.name}") { Times.queued(self, ruby) },
        SamplerCase.new("one round #{ruby.name}") { Times.one_round(self, ruby) },
      ]
    end
  end

  def self.notes(folder)
    File.readlines(File.join(folder, "notes"), chomp: true).to_h { |line| [line.split.first, line.split.drop(1).map(&:to_f)] }
  end

  def self.let_go(test, folder)
    File.write(File.join(folder, "go"), "")
    test.wait_until("end of the program's work") { File.exist?(File.join(folder, "done")) }
  end

  # A thread that was woken waits for its turn, and then for a processor, before the method returns.
  WOKEN = %w[running gvl gc].freeze

  def self.waits(test, ruby)
    test.with_program(ruby, "waits.rb", WAITS, rand(1 << 30)) do |pid, _, folder|
      recording = test.record_while(ruby, pid, "-r", 499) { let_go(test, folder) }
      errors = notes(folder).map do |kind, (waited, all)|
        inside = ->(total) { recording.thread(total)["name"] == kind && recording.stack(total).include?("Object#measured") }
        seen = recording.sum("wall", &inside) / 1e9
        other = recording.sum("wall") { |total| inside[total] && !WOKEN.include?(total["state"]) && total.values_at("state", "wait") != ["blocked", kind] } / 1e9
        error = (seen - waited) / all
        allowed = recording.achieved < 0.9 * 499 ? BUSY_ERROR : WAIT_ERROR
        if error.abs > allowed || other > allowed * all
          test.fail(format("%s: %.3f s were noted and %.3f s seen, %.3f s of them with another reason, of %.3f s: %s", kind, waited, seen, other, all, states(recording, kind)))
        end
        format("%s %+.1f %%", kind, 100 * error)
      end
      test.note = [*errors, torn(test, recording)].join(", ")
    end
  end

  CALLS = 8.0 # seconds

  # Of a blocked thread, rcore reads less than of another. It must see when only the outer frames have changed.
  def self.callers(test, ruby)
    test.with_program(ruby, "callers.rb", CALLS, rand(1 << 30)) do |pid, _, folder|
      recording = test.record_while(ruby, pid, "-r", 199) { let_go(test, folder) }
      noted = notes(folder).transform_values(&:first)
      seen = noted.keys.to_h { |name| [name, recording.sum("wall") { |total| recording.stack(total).include?(name) } / 1e9] }
      allowed = recording.achieved < 0.9 * 199 ? BUSY_ERROR : WAIT_ERROR
      wrong = noted.reject { |name, time| (seen[name] - time).abs <= allowed * noted.values.sum }
      test.note = noted.map { |name, time| format("%s %.2f of %.2f s", name, seen[name], time) }.join(", ")
      test.fail("time of #{wrong.keys}") if wrong.any?
    end
  end

  # A sampler must not reject most samples. Nearly all stacks of these programs can be read within six attempts.
  def self.torn(test, recording)
    torn = recording.sum("samples") { |total| recording.stack(total).last == SamplerCase::TORN }
    share = torn.fdiv(recording.sum("samples") { true })
    test.fail(format("%.1f %% of the samples have outer frames only", 100 * share)) if share > MOST_TORN
    format("%.2f %% torn", 100 * share)
  end

  # What a thread was seen to do, in seconds.
  def self.states(recording, name)
    recording.totals.select { |total| recording.thread(total)["name"] == name }
             .group_by { |total| total.values_at("state", "wait").compact.join(" ") }
             .transform_values { |totals| (totals.sum { |total| total["wall"] } / 1e9).round(3) }
  end

  # If several threads want to run, one does at a time.
  def self.gvl(test, ruby)
    test.with_program(ruby, "busy_threads.rb", 3) do |pid, _, _|
      recording = test.record(ruby, pid, "-d", 5, "-r", 199)
      busy = ->(total) { recording.thread(total)["name"] == "busy" }
      all = recording.sum("wall", &busy)
      seen = %w[running gvl].to_h { |state| [state, recording.sum("wall") { |total| busy[total] && (total["state"] == state || (state == "running" && total["state"] == "gc")) } * 3.0 / all] }
      test.note = [*seen.map { |state, share| format("%s %.3f of 3", state, share) }, torn(test, recording)].join(", ")
      test.fail("one of three runs, and two wait: #{seen}") unless (seen["running"] - 1).abs <= 3 * WAIT_ERROR && (seen["gvl"] - 2).abs <= 3 * WAIT_ERROR
    end
  end

  # With another process that wants a processor.
  def self.beside_another
    busy = Process.spawn("sh", "-c", "while :; do :; done")
    yield
  ensure
    Child.stop(busy)
  end

  WORKERS = 3
  WORKER_SECONDS = 0.6 # of the first one, on a processor

  # Each process has the processor time that it noted, and the last one has ended.
  def self.cluster(test, ruby)
    test.with_program(ruby, "cluster.rb", WORKERS, WORKER_SECONDS) do |pid, _, folder|
      inside = -> { Dir.children(folder).grep(/\Anote\d+\z/).to_h { |name| [Integer(name[/\d+/]), File.read(File.join(folder, name)).to_f] } }
      recording = test.record_while(ruby, pid, "--children") do |_, log|
        # The titles identify them, because their ids may differ in a container.
        test.wait_until("samples of all") { File.read(log).match?(/ samples? in /) || roles_so_far(test, log.sub(/log\z/, "rec")).size > WORKERS }
        File.write(File.join(folder, "go"), "")
        test.wait_until("the end of a worker") { File.exist?(File.join(folder, "ended")) && inside.call.size == WORKERS }
        sleep 1.5
      end
      noted = inside.call
      found = recording.processes.to_h { |each| [each["role"], each] }
      test.same("roles", ["Puma", *Array.new(WORKERS) { |number| "Puma worker #{number}" }], found.keys.sort)
      cpu = noted.keys.to_h { |number| [number, found.fetch("Puma worker #{number}")["cpu"] / 1e9] }
      test.note = noted.sort.map { |number, time| format("worker %d: %.2f of %.2f s", number, cpu[number], time) }.join(", ")
      noted.each { |number, time| test.fail("processor time of worker #{number}") if (cpu[number] - time).abs > BUSY_ERROR * noted.values.sum }
      test.same("which have ended", ["Puma worker #{WORKERS - 1}"], found.select { |_, each| each["ended"] }.keys)
      found.each do |role, each|
        sums = recording.totals.select { |total| recording.thread(total)["pid"] == each["pid"] }
        gvl = sums.sum { |total| total["state"] == "gvl" ? total["wall"] : 0 }
        test.same("sums of #{role}", [sums.sum { |total| total["samples"] }, sums.sum { |total| total["cpu"] }, gvl], [each["samples"], each["cpu"], each["gvl"] || 0])
      end
      text, = test.rcore("report", recording.path)
      test.same("rows of the text", found.map { |role, each| [each["pid"].to_s, role] }.sort, text.scan(/^ +[\d.]+ +[\d.]+% +[\d.]+% +\d+  (\d+)  (Puma(?: worker \d+)?)  /).sort)
    end
  end

  def self.roles_so_far(test, path)
    test.read(path).processes.map { |each| each["role"] }.grep(/Puma/)
  rescue Debuggee::Failed
    []
  end

  METHOD = /s\d+_m\d+\z/.freeze
  LABELS = 3
  # The context is read just after the stack.
  LATE = 0.1

  # What is compared, by the names of the program's notes.
  SHARES = { "methods" => /\As\d+_m\d+\z/, "lines" => /:/, "labels" => /label/ }.freeze

  def self.shares(test, ruby, seeds: SEEDS, allowed_late: LATE)
    test.with_program(ruby, "shares.rb", seeds, SECONDS) do |pid, _, folder|
      recording = test.record_while(ruby, pid, "-r", 499) { let_go(test, folder) }
      counts = counts_of(recording)
      noted = notes(folder).transform_values(&:first)
      late = late_labels(recording)
      test.fail("#{late} of the time has the label of another method") if late > allowed_late
      # A Ruby of one's own may lack the gem.
      labels = noted.keys.any? { |name| name.include?("label") }
      test.fail("no labels") if !labels && !ENV["RCORE_RUBY"] && ruby.version >= Gem::Version.new("3.2")
      texts = SHARES.select { |what, _| what != "labels" || labels }.map do |what, names|
        sum, freedom = test_of(noted.select { |name, _| name =~ names }, counts)
        p = chi_square_tail(sum, freedom)
        test.fail(format("%s: p %.2g", what, p)) if p < LEAST_P
        format("%s %.1f of %d, p %.2g", what, sum, freedom, p)
      end
      texts << "#{late} late" if labels
      texts << torn(test, recording)
      test.note = "chi-square of #{texts.join("; ")}"
    end
  end

  # The share of the time that has the label of a method that was called before.
  def self.late_labels(recording)
    labelled = recording.totals.select { |total| total.dig("labels", "part") =~ /\As/ && recording.stack(total).any? { |label| label =~ METHOD } }
    late = labelled.reject do |total|
      seed, number = recording.stack(total).grep(METHOD).last.scan(/\d+/).map(&:to_i)
      total["labels"]["part"] == "s#{seed}_label#{number % LABELS}"
    end
    late.sum { |total| total["cpu"] }.fdiv([labelled.sum { |total| total["cpu"] }, 1].max).round(3)
  end

  # Time on a processor in each method, line and label.
  def self.counts_of(recording)
    counts = Hash.new(0)
    recording.totals.each do |total|
      frame = recording.frames(total).reverse.find { |each| each["label"] =~ METHOD } or next
      name = frame["label"][METHOD]
      [name, "#{name}:#{frame["line"]}", total.dig("labels", "part")].compact.each { |key| counts[key] += total["cpu"] }
    end
    counts
  end

  # Assumes that each sample represents the same time on a processor.
  def self.test_of(noted, seen)
    sum = freedom = 0
    noted.group_by { |name, _| name[/\As\d+/] }.each_value do |group|
      wanted, found = group.map(&:last), group.map { |name, _| seen[name].to_f }
      samples = SECONDS * 499 * found.sum / 1e9 / [wanted.sum, found.sum / 1e9].max
      group.each_index do |at|
        expected = samples * wanted[at] / wanted.sum
        sum += (samples * found[at] / found.sum - expected)**2 / expected
      end
      freedom += group.size - 1
    end
    [sum, freedom]
  end

  # Uses the approximation of Wilson and Hilferty.
  def self.chi_square_tail(value, freedom)
    z = ((value / freedom)**(1.0 / 3) - 1 + 2.0 / (9 * freedom)) / Math.sqrt(2.0 / (9 * freedom))
    Math.erfc(z / Math.sqrt(2)) / 2
  end

  PLACES = %w[first_place second_place].freeze

  def self.parked_at(recording, place)
    recording.totals.select { |total| total["state"] == "parked" && recording.stack(total).include?("Object##{place}") }
  end

  def self.fibers(test, ruby)
    test.with_program(ruby, "fibers.rb", 100) do |pid, counter|
      recording = test.record(ruby, pid, "-d", 3, "--fiber-rate", 10)
      counts = PLACES.to_h { |place| [place, parked_at(recording, place).sum { |total| total["samples"] }] }
      test.note = counts.map { |place, count| "#{place} #{count}" }.join(", ")
      test.fail("not three to one: #{counts}") unless counts["second_place"].positive? && counts["first_place"] == 3 * counts["second_place"]
      test.goes_on(counter)
    end
  end

  # Two programs on one processor: each waits for half of the time. The recording says so, and the report. If rcore record
  # prints a table, only the table says so, otherwise only the last line.
  def self.queued(test, ruby)
    processor = File.read("/proc/self/status")[/^Cpus_allowed_list:\s*(\d+)/, 1]
    busy = Process.spawn("taskset", "-c", processor, "sh", "-c", "while :; do :; done")
    test.with_program(ruby, "busy_threads.rb", 1, before: ["taskset", "-c", processor]) do |pid, _, _|
      recording = test.record(ruby, pid, "-d", 3)
      queued = recording.facts["queued"].to_i
      test.note = "#{queued} %"
      test.fail("less than a fifth of the time") unless queued >= 20
      text, = test.rcore("report", recording.path)
      test.fail("not in the report: #{text.lines.first(4)}") unless text.lines.first(4).any? { |line| line.start_with?("Threads waited for a processor for #{queued} % of the time") }
      { [] => [1, 0], ["-o", File.join(test.folder, "queued.txt")] => [0, 1] }.each do |output, wanted|
        texts = test.rcore("record", "-p", pid, *ruby.files, "-d", 2, *output).first(2)
        said = texts.map { |printed| printed.scan("CPU times of methods may be wrong").size }
        test.fail("said #{said} times, not #{wanted}, in the table and the last line: #{texts.last}") unless said == wanted
      end
    end
  ensure
    Child.stop(busy)
  end

  LONG_ROUND = 28_000
  SHORT = 1 # second
  ROUNDS = 5

  # There are so many fibers that the recording ends in the first round. Each of
  # them represents time all the same. The recording may end late, because the
  # first tick needs half a second of a processor. What rcore does after the end
  # takes more than twice as long, and must not count. A busy machine slows down
  # both, unless it becomes less busy in between. So there are several attempts.
  def self.one_round(test, ruby)
    test.with_program(ruby, "fibers.rb", LONG_ROUND / 4) do |pid, counter|
      late = []
      ROUNDS.times do
        recorded, whole = record_round(test, ruby, pid)
        break late.clear if recorded <= [1.1 * SHORT, whole / 2].max
        late << format("%.2f of %.2f s", recorded, whole)
      end
      test.fail("the end of the round is time of the recording: #{late}") if late.any?
      test.goes_on(counter)
    end
  end

  # Returns how many seconds the recording has, and how many rcore ran.
  def self.record_round(test, ruby, pid)
    path = File.join(test.folder, "round.rec")
    begun = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    _, err, status = test.rcore("record", "-p", pid, "-o", path, *ruby.files, "-d", SHORT, "-r", 1000, "--by", "fiber")
    whole = Process.clock_gettime(Process::CLOCK_MONOTONIC) - begun
    raise Debuggee::Failed, "no recording (#{status}): #{err}" unless status.zero?
    recording = test.read(path)
    times = PLACES.to_h { |place| [place, parked_at(recording, place).group_by { |total| total["fiber"] }.map { |_, totals| totals.sum { |total| total["wall"] } }] }
    test.fail("fibers at each place: #{times.transform_values(&:size)}") unless times.transform_values(&:size) == { "first_place" => LONG_ROUND * 3 / 4, "second_place" => LONG_ROUND / 4 }
    none = times.values.flatten.count(&:zero?)
    test.fail("#{none} of #{LONG_ROUND} represent no time") if none.positive?
    test.fail("a fiber has more time than the recording") if times.values.flatten.max > recording.duration
    test.note = format("%.2f of %.2f s recorded, %.2f s of a fiber", recording.duration / 1e9, whole, times.values.flatten.max / 1e9)
    [recording.duration / 1e9, whole]
  end

  LANES = 80
  # Of the time of fibers that live for little longer than the time between two searches for new ones.
  BRIEF = (0.7..1.3).freeze

  # At each moment, as many fibers are parked in `brief` as in `lasting`.
  def self.brief(test, ruby)
    test.with_program(ruby, "brief.rb", LANES) do |pid, counter|
      recording = test.record(ruby, pid, "-d", 8)
      lasting, brief = %w[lasting brief].map { |place| parked_at(recording, place).sum { |total| total["wall"] } / 1e9 }
      test.note = format("lasting %.2f s, brief %.2f s", lasting, brief)
      test.fail("lasting fibers: not the whole time") unless lasting > 0.95 * LANES / 2 * recording.duration / 1e9
      test.fail(format("%.3f of the time", brief / lasting)) unless BRIEF.cover?(brief / lasting)
      test.goes_on(counter)
    end
  end

  # So many that they take turns. That changes how often they are sampled, but not what is found.
  def self.crowd(test, ruby)
    test.with_program(ruby, "fibers.rb", CROWD / 4) do |pid, counter|
      recording = test.record(ruby, pid, "-d", 6, "--by", "fiber")
      walls = PLACES.to_h { |place| [place, parked_at(recording, place).group_by { |total| total["fiber"] }.map { |_, totals| totals.sum { |total| total["wall"] } }] }
      samples = PLACES.sum { |place| parked_at(recording, place).sum { |total| total["samples"] } }
      times = walls.values.flatten
      test.note = "#{times.size} fibers, #{samples} samples, each represents #{times.minmax.map { |wall| (wall / 1e9).round(2) }.join(" to ")} s"
      test.fail("fibers at each place: #{walls.transform_values(&:size)}") unless walls.transform_values(&:size) == { "first_place" => CROWD * 3 / 4, "second_place" => CROWD / 4 }
      test.fail("they did not take turns") unless samples < CROWD * recording.duration / 1e9 * 8
      # One whose stack could not be read in the first round is seen at its next turn.
      test.fail("not the whole time") unless times.sum / times.size > 0.97 * times.max && times.min > 0.5 * times.max && times.max <= recording.duration
      test.goes_on(counter)
    end
  end
end
