# SPDX-License-Identifier: MIT

# Compares what waits for what, who has which lock, and the deadlocks, as the
# debuggee wrote them, with a report. Neither may have more than the other.
class Waits
  # Only rcore has these: the debuggee cannot know them.
  OWN = %w[text known_by lock].freeze
  KNOWN_BY = { "sleep" => "frame", "stop" => "frame", "process" => "frame", "ractor" => "frame" }.freeze

  attr_reader :differences

  def initialize(truth, report)
    @truth, @report = truth, report
    @differences = []
    @threads = report["threads"].select { |thread| thread["object"] }.to_h { |thread| [thread["object"], thread] }
    @fibers = report["fibers"].select { |fiber| fiber["object"] }.to_h { |fiber| [fiber["object"], fiber] }
    @owned_by_fibers = Gem::Version.new(truth["ruby"]) >= Gem::Version.new("3.0")
    waits
    locks
    deadlocks
  end

  private

  def same(what, told, reported)
    @differences << "#{what}: Ruby says #{told.inspect}, rcore #{reported.inspect}" unless told == reported
  end

  def same_set(what, told, reported)
    same(what, told - reported, reported - told)
    same("how many #{what}", told.size, reported.size)
  end

  # The fiber at the address of a thread or a fiber.
  def fiber(address)
    @fibers[address]&.fetch("id") || @threads.dig(address, "current_fiber")
  end

  def owner(address)
    fiber = @fibers[address]
    thread = fiber ? fiber["thread"] : @threads.dig(address, "id")
    return { "thread" => thread } unless @owned_by_fibers
    { "thread" => thread, "fiber" => fiber(address) }
  end

  def expected(told)
    told = told.reject { |key, _| key == "of" }
    owner = owner(told["owner"])
    # The GVL is a thread's.
    owner = { "thread" => owner["thread"] } if told["kind"] == "gvl"
    told["owner"] = owner if told["owner"]
    told["thread"] = @threads.dig(told["thread"], "id") if told["thread"]
    # Only for a running process.
    told["fds"] = told["fds"].map { |fd| fd.reject { |key, _| key == "open" } } if told["fds"] && !@report["live"]
    told
  end

  def waits
    reported = @report["fibers"].select { |fiber| fiber["wait"] }.to_h { |fiber| [fiber["id"], fiber["wait"]] }
    told = @truth["waits"].to_h { |wait| [fiber(wait["of"]), wait] }
    same_set("who waits", told.keys, reported.keys)
    told.each do |id, wait|
      next unless (seen = reported[id])
      name = @report["threads"].find { |thread| thread["current_fiber"] == id }&.dig("name")
      what = "#{id} #{name}: wait"
      same(what, expected(wait), comparable(seen, wait))
      same("#{what}: known by", known_by(seen), seen["known_by"])
      same("#{what}: lock", %w[mutex monitor condition_variable].include?(seen["kind"]), seen.key?("lock"))
    end
  end

  def comparable(seen, told)
    seen = seen.reject { |key, _| OWN.include?(key) || (key == "method" && !told.key?("method")) }
    return seen unless seen["fds"]
    # The addresses of a socket follow its number.
    seen.merge("fds" => seen["fds"].map { |fd| fd.key?("open") ? fd.merge("open" => fd["open"][/\A\S+/]) : fd })
  end

  def known_by(wait)
    return "frame" if wait["method"] =~ /select\z/
    # Under a scheduler, only the IO itself records who waits, and only from 4.0
    # on.
    return "frame" if wait["hook"] == "io_wait" && Gem::Version.new(@truth["ruby"]) < Gem::Version.new("4.0")
    KNOWN_BY.fetch(wait["kind"], "vm")
  end

  def locks
    told = @truth["locks"].map { |lock| expected(lock) }
    reported = @report["locks"].map do |lock|
      lock.reject { |key, _| OWN.include?(key) }.merge("waiters" => lock["waiters"].size)
    end
    same_set("locks", told, reported)
  end

  def deadlocks
    told = @truth["deadlocks"].map { |deadlock| [deadlock["fibers"].map { |each| fiber(each) }.sort, deadlock["cycle"]] }
    reported = @report["deadlocks"].map { |deadlock| [deadlock["fibers"].sort, !!deadlock["cycle"]] }
    same_set("deadlocks", told, reported)
    @report["deadlocks"].each do |deadlock|
      named = deadlock["text"].scan(/\bT\d+(?:\.F\d+)?/).map { |id| id.include?(".") ? id : "#{id}.F0" }
      missing = deadlock["fibers"] - named
      @differences << "deadlock without #{missing}: #{deadlock['text']}" if missing.any?
    end
  end
end
