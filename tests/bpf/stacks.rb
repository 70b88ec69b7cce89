# SPDX-License-Identifier: MIT

# At a write(2), the context and the labels of all frames are those that the program noted just before.
module Stacks
  MARKS = (ENV["MARKS"] || 3000).to_i
  LABEL = 32 # bytes, as programs/stacks.h has it

  def self.cases(workshops)
    workshops.flat_map do |ruby, workshop|
      # Before 3.0, only the thread with the GVL has an execution context.
      threads = ruby.version < Gem::Version.new("3.0") ? 1 : 4
      kinds = { "stacks" => [[threads], {}] }
      kinds["stacks mn"] = [[threads, "plain"], { "RUBY_MN_THREADS" => "1" }] if ruby.version >= Gem::Version.new("3.3")
      ruby.jits.each { |jit| kinds["stacks #{jit}"] = [[threads], { "RUBYOPT" => "--#{jit}" }] }
      kinds.map { |kind, (arguments, environment)| BpfCase.new("#{kind} #{ruby.name}") { Stacks.compare(self, ruby, workshop, arguments, environment) } }
    end
  end

  # The block gets the process that was started, and says which one is the program's.
  def self.compare(test, ruby, workshop, arguments, environment, before: [], loader: [])
    seed = Random.new_seed % 2**31
    loaded = nil
    truth = test.truth_of(ruby, workshop, "calls.rb", seed, MARKS, *arguments, environment: environment, before: before) do |pid, spawned|
      pid = yield(before.empty? ? pid : spawned) if block_given?
      loaded = test.load([*loader, BpfCase.program("stacks")], /\Aready$/, test.params(pid, "--key", "request_id", "--binary"))
    end
    lines = test.unload(loaded)
    test.same("last line", "lost 0", lines.pop)
    test.fail("#{lines.size} events for #{truth.size} marks") unless lines.size == truth.size
    # A native thread of M:N threads keeps the gem's pointer when it moves on to the next one.
    contexts = !environment.key?("RUBY_MN_THREADS")
    lines.each do |line|
      number, _, found, context, labels = line.split("\t", -1)
      own_context, own_labels = truth.fetch(number.to_i)
      test.fail("mark #{number}, seed #{seed}: the context is #{own_context.inspect}, not #{context}") if contexts && context != (own_context ? "=#{own_context.byteslice(0, LABEL)}" : "-")
      labels = labels.split(";")
      # From 3.4 on, a backtrace leaves these out.
      labels.reject! { |label| label =~ /\A(?:rescue|ensure) in / } if ruby.version >= Gem::Version.new("3.4")
      wanted = ["syswrite", *own_labels].map { |label| label.byteslice(0, LABEL) }
      test.fail("mark #{number}, seed #{seed}, #{found} frames: #{differ(wanted, labels)}") unless wanted == labels
    end
    test.note = "#{lines.size} moments, up to #{truth.map { |_, labels| labels.size }.max} frames"
  end

  def self.differ(wanted, found)
    at = wanted.zip(found).index { |one, other| one != other } || wanted.size
    "frame #{at} of #{wanted.size} is #{wanted[at].inspect}, not #{found[at].inspect}; before it #{wanted[[at - 3, 0].max...at]}"
  end
end
