# SPDX-License-Identifier: MIT
require "json"
require_relative "case"
require_relative "../lldb/program"

# Breakpoints of GDB that stop in one fiber only, among fibers that call the
# same function in turn (tests/lldb/turns).
module Conditions
  def self.cases(rubies, debuggers)
    rubies.product(debuggers.select(&:own?)).concat(rubies.select { |ruby| ruby.name == "3.3" }.product(debuggers.reject(&:own?))).map do |ruby, debugger|
      Case.new("conditions on #{ruby.name}, #{debugger.name}") { Conditions.run(self, ruby, debugger) }
    end
  end

  # What to print at each stop.
  ASKED = ['print $ruby_state("user_id")', 'print $ruby_local("round")', 'print $ruby_state("name")', "ruby-fiber"].freeze

  # Each breakpoint must stop three times, for this user.
  BREAKS = {
    '$ruby_state("user_id") == 42' => 42,
    '$ruby_state("name", "user 43")' => 43,
    '$_streq($ruby_local("label"), "turn 44")' => 44,
    '$ruby_local("id", 40) && $ruby_state("user_id") < 41' => 40,
  }.freeze

  ADDRESSES = %w[self cfp fiber ec].freeze

  def self.run(test, ruby, debugger)
    program = Program.new(ruby, "turns")
    stops = ["continue", *ASKED] * 3
    commands = BREAKS.keys.flat_map { |condition| ["break getpgid if #{condition}", *stops, "delete"] }
    first = ["break getpgid if $ruby_state(\"user_id\") == 41", "continue", "ruby-fibers --json", *ADDRESSES.map { |name| "print/x $ruby_#{name}()" }]
    values = ['print $ruby_state("nosuch")', 'print $ruby_state("user_id", "41")', 'print $ruby_local("nosuch", 1)', 'print $ruby_local("nosuch")',
              'print $ruby_state()', 'print $ruby_state(1)', 'print $ruby_ec(1)', 'print $ruby_state("user_id") + 1', "delete"]
    told = debugger.run([*first, *values, *commands, "detach"], before: ["set sysroot #{ruby.root}", "file #{ruby.outside(ruby.program)}", "attach #{program.pid}"])
    addresses(test, told.shift(first.size))
    known(test, told.shift(values.size))
    BREAKS.each { |condition, user| stopped(test, condition, user, told.shift(stops.size + 2)[1..]) }
    test.fail("the process is dead") unless program.alive?
  ensure
    program&.close
  end

  def self.value(text)
    text[/\A\$\d+ = (.*)\n\z/, 1]
  end

  def self.addresses(test, told)
    fiber = JSON.parse(told[2])["fibers"].find { |one| one["context"]&.fetch("pairs")&.any? { |pair| pair.values_at("name", "text") == %w[user_id 41] } }
    wanted = fiber["frames"][0].values_at("self", "cfp") + fiber.values_at("address", "ec")
    test.fail("not the fiber that stopped") unless fiber["current"]
    ADDRESSES.zip(wanted, told.drop(3)) { |name, address, text| test.same("$ruby_#{name}()", address, value(text)) }
  end

  def self.known(test, told)
    test.same("no such key", "0", value(told[0]))
    test.same("a number is no string", "0", value(told[1]))
    test.same("no such local", "0", value(told[2]))
    test.fail("no such local: #{told[3]}") unless told[3] =~ /\Arcore: there is no local nosuch in frame \d\n\z/
    test.same("no name", "rcore: wrong number of arguments; see help function ruby_state\n", told[4])
    test.same("a number for a name", "rcore: the first argument must be a name in quotes; see help function ruby_state\n", told[5])
    test.same("an argument too many", "rcore: wrong number of arguments; see help function ruby_ec\n", told[6])
    test.same("in an expression", "42", value(told[7]))
  end

  # It stops at each turn of that fiber, and of no other.
  def self.stopped(test, condition, user, told)
    stops = told.each_slice(ASKED.size + 1).first(3)
    rounds = stops.map do |_, id, round, name, fiber|
      test.same("#{condition}: user_id", user.to_s, value(id))
      test.same("#{condition}: name", "\"user #{user}\"", value(name))
      test.same("#{condition}: fiber", stops[0].last, fiber)
      value(round).to_i
    end
    test.same("#{condition}: turns", [rounds[0], rounds[0] + 1, rounds[0] + 2], rounds)
    test.fail("#{condition}: #{stops}") if stops.flatten.join =~ /Error in testing|rcore:|Python/
  end
end
