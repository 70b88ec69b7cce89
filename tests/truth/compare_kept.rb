# SPDX-License-Identifier: MIT

# What fibers handle and keep, and what threads keep (tests/fixtures/knowing.rb).
class CompareKept
  Compare::MORE << self

  def initialize(truth, report)
    @truth, @report = truth, report
    @fibers = report["fibers"].to_h { |fiber| [fiber["object"], fiber] }
    @differences = []
  end

  def run
    exceptions if @truth["handled"]
    @truth["kept"].to_a.each { |told| kept(told) }
    variables if @truth["variables"]
    @differences
  end

  private

  def same(what, told, reported)
    @differences << "#{what}: Ruby says #{told.inspect[0, 1000]}, rcore #{reported.inspect[0, 1000]}" unless told == reported
  end

  def exceptions
    handled = @truth["handled"].to_h { |told| told.values_at("fiber", "exceptions") }
    @report["fibers"].each do |fiber|
      next if fiber["problem"] # lost with its stack: Compare wants to hear that it is
      told, reported = handled.fetch(fiber["object"], []), fiber["exceptions"].to_a
      same("#{fiber['id']}: exceptions", told.map { |chain| chain.first["class"] }, reported.map { |each| each["class"] })
      told.zip(reported) { |chain, exception| exception(fiber, chain, exception) if exception }
    end
    found, lost = %w[exceptions problem].map { |key| @report["fibers"].select { |fiber| fiber[key] }.map { |fiber| fiber["object"] } }
    same("fibers that handle", (handled.keys - lost).sort, (found - lost).sort)
  end

  def exception(fiber, chain, reported)
    what = "#{fiber['id']}: #{reported['class']}"
    handler = fiber["frames"][reported["frame"] || -1]["label"]
    @differences << "#{what}: in #{handler}" unless handler =~ /\A(?:rescue|ensure) in /
    chain.zip([reported, *reported["causes"]]) { |told, each| one(what, told, each || {}) }
    same("#{what}: causes", chain.size - 1, reported["causes"].to_a.size)
  end

  def one(what, told, reported)
    %w[class object message].each { |key| same("#{what}: #{key}", told[key], reported[key]) }
    lines = reported["backtrace"] && reported["backtrace"].map { |location| line(location) }
    first = (0...told["backtrace"].to_a.size).find { |index| told["backtrace"][index] != lines.to_a[index] }
    same("#{what}: backtrace #{first}", told["backtrace"][first], lines.to_a[first]) if first
    same("#{what}: size of its backtrace", told["backtrace"] && told["backtrace"].size, lines && lines.size)
    @differences << "#{what}: #{reported['problem']}" if reported["problem"]
  end

  # Formats it as location_to_str of vm_backtrace.c does.
  def line(location)
    return location["text"] || location["problem"] unless location["path"]
    quote = Gem::Version.new(@truth["ruby"]) >= Gem::Version.new("3.4") ? "'" : "`"
    "#{location['path']}#{":#{location['line']}" if location['line']}:in #{quote}#{location['label']}'"
  end

  def kept(told)
    fiber = @fibers[told["fiber"]] or return @differences << "no fiber #{told['fiber']}"
    same("#{fiber['id']}: fiber locals", told["locals"], by_name(fiber["fiber_locals"]))
    same("#{fiber['id']}: storage", told["storage"], by_name(fiber["storage"]))
    @differences.concat(fiber.values_at("storage_problem", "fiber_locals_problem").compact)
  end

  def by_name(variables)
    variables.to_a.to_h { |variable| variable.values_at("name", "text") }
  end

  def variables
    threads = @report["threads"].to_h { |thread| [thread["object"], thread] }
    @truth["variables"].each do |told|
      thread = threads[told["thread"]] || {}
      same("#{thread['id']}: variables", told["variables"], by_name(thread["variables"]))
    end
  end
end
