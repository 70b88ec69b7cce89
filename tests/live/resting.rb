# SPDX-License-Identifier: MIT

# If a process has many fibers, most stacks are copied before the stop. What rcore shows of them is what they had at the
# stop, or it is marked as older.
module Resting
  COUNT = 800
  SHORT = 50
  LOOKS = 4
  MOST = 40

  def self.cases(rubies)
    rubies.map { |ruby| LiveCase.new("resting #{ruby.name}") { Resting.look(self, ruby) } }
  end

  def self.look(test, ruby)
    test.with_program(ruby, "turns.rb", COUNT) do |pid, counter|
      marked = []
      # If the program waits for a processor, it does not run, and nothing is marked.
      until marked.size == MOST || (marked.size >= LOOKS && marked.any?(&:positive?))
        known = counter.value
        report, = test.report("-p", pid, "--locals")
        marked << compare(test, report, known)
      end
      in_words(test, pid)
      test.fail("no fiber is marked in #{MOST} looks") unless marked.any?(&:positive?)
      exact, = test.report("-p", pid, "--locals", "--exact")
      test.same("marked with --exact", 0, compare(test, exact, nil))
      refused(test, pid)
      test.goes_on(counter)
      test.note = "#{marked.join(", ")} of #{COUNT} marked"
    end
  end

  # The text counts the marked fibers at the top, and says for each fiber and each group which they are.
  def self.in_words(test, pid)
    out = wanted = nil
    MOST.times do
      out, = test.rcore("-p", pid)
      wanted = out[/^The stacks of (\d+) parked fibers? are as of/, 1].to_i
      break if wanted.positive?
    end
    test.fail("no fiber is marked in #{MOST} texts") unless wanted.positive?
    own = out.lines.grep(/^ *[ *] *T\d+\.F\d+ .*, as of [\d.]+ ms before the stop/).size
    groups = out.split(/^(?=\d[\d,]* fibers parked with)/).drop(1).sum do |group|
      marked = group[/^  (\S+)(?: of them)? as of [\d.]+ ms before the stop$/, 1]
      (marked == "all" ? group : marked.to_s).delete(",").to_i
    end
    test.same("marked, by the text", wanted, own + groups)
  end

  def self.refused(test, pid)
    [["-p", pid, "--no-stop", "--exact"], ["core", "--exact"]].each do |arguments|
      _, err, status = test.rcore(*arguments)
      test.same("#{arguments.join(" ")}: status", 64, status)
      test.fail("#{arguments.join(" ")}: #{err}") unless err.include?("'--exact'")
    end
  end

  # Returns how many fibers are marked. `known` is the step that the program had reached before the look.
  def self.compare(test, report, known)
    return 0 unless report
    test.same("complete", true, report["complete"])
    test.same("a problem", nil, Running.problem(report))
    main = report["threads"][0]["id"]
    step = Integer(report["fibers"].filter_map { |fiber| frames_local(fiber, "step") }.first)
    fibers, shorts = report["fibers"].reject { |fiber| fiber["root"] || fiber["status"] == "terminated" }.partition { |fiber| frames_local(fiber, "number") }
    short(test, shorts, step)
    busy, resting = fibers.partition { |fiber| fiber["thread"] == main }
    [busy, resting].each { |each| test.same("fibers", (0...COUNT).to_a, each.map { |fiber| number(fiber) }.sort) }
    resting.each { |fiber| turns(test, fiber, 1..1) }
    parked = stack(resting.first)
    torn = busy.reject { |fiber| number(fiber) == step % COUNT || stack(fiber) == parked }
    test.fail("torn, #{torn[0]["stack_age_ns"] || "not"} marked: #{stack(torn[0]) - parked}") if torn.any?
    busy.each { |fiber| turns(test, fiber, allowed(fiber, step, known)) }
    busy.count { |fiber| fiber["stack_age_ns"] }
  end

  # Fibers that live for SHORT steps. One of them is just being replaced.
  def self.short(test, fibers, step)
    wanted = (step - SHORT...step).reject { |born| born % SHORT == step % SHORT }
    born = fibers.reject { |fiber| fiber["stack_age_ns"] }.filter_map { |fiber| frames_local(fiber, "born") }.map(&:to_i)
    born -= [step, step - SHORT]
    marked = fibers.count { |fiber| fiber["stack_age_ns"] }
    test.fail("born at #{(born - wanted).first(5)}, but the step is #{step}") if (born - wanted).any?
    test.fail("#{wanted.size - born.size - marked} of #{SHORT} are missing") if born.uniq.size + marked < wanted.size
  end

  # Returns how often a fiber was resumed up to a step.
  def self.resumed(number, step) = 1 + (step - number + COUNT - 1) / COUNT

  # The fiber may be just being resumed.
  def self.allowed(fiber, step, known)
    now = resumed(number(fiber), step)
    from = fiber["stack_age_ns"] ? resumed(number(fiber), known) : now
    from..(number(fiber) == step % COUNT ? now + 1 : now)
  end

  def self.turns(test, fiber, allowed)
    found = frames_local(fiber, "turns")
    return if allowed.cover?(Integer(found))
    test.fail("#{fiber["id"]} (number #{number(fiber)}, #{fiber["stack_age_ns"] || "not"} marked) had #{found} turns: wanted #{allowed}")
  end

  def self.stack(fiber) = fiber["frames"].map { |frame| frame.values_at("label", "line") }

  def self.number(fiber) = Integer(frames_local(fiber, "number"))

  def self.frames_local(fiber, name)
    fiber["frames"].filter_map { |frame| local(frame, name) }.first
  end

  def self.local(frame, name)
    frame["locals"]&.find { |each| each["name"] == name }&.fetch("text")
  end
end
