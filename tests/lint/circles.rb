#!/usr/bin/ruby
# SPDX-License-Identifier: MIT
#
# Checks that no source files call each other, directly or in a ring, so that
# each can be read after those that it needs. What several files share belongs
# in a lower one. The symbols of the objects show who calls whom.
#
#	tests/lint/circles.rb OBJECT...
require "tsort"

class Calls
  include TSort

  # calls: from an object to the symbols that it uses, by the object that defines them.
  def initialize(calls) = @calls = calls
  def tsort_each_node(&block) = @calls.each_key(&block)
  def tsort_each_child(object, &block) = @calls[object].each_key(&block)

  def rings = strongly_connected_components.select { |ring| ring.size > 1 }

  def describe(ring)
    ring.flat_map { |from| @calls[from].slice(*ring).map { |to, symbols| "  #{source(from)} calls #{symbols.join(", ")} of #{source(to)}" } }
  end

  private

  def source(object) = object[/analyzer\/.*|plugin\/.*/].sub(/\.o$/, ".c")
end

symbols = ARGV.to_h { |object| [object, []] }
IO.popen(["nm", "-A", "-P", *ARGV]) do |lines|
  lines.each do |line|
    object, name, type = line.split(/:? /)
    symbols[object] << [name, type]
  end
end
owners = symbols.flat_map { |object, list| list.select { |_, type| type =~ /[TDBRV]/ }.map { |name,| [name, object] } }.to_h
calls = symbols.to_h do |object, list|
  used = list.select { |_, type| type == "U" }.map(&:first).select { |name| owners[name] && owners[name] != object }
  [object, used.group_by { |name| owners[name] }]
end
calls = Calls.new(calls)
rings = calls.rings
rings.each { |ring| puts "these files call each other in a ring; move what they share into a lower one:", calls.describe(ring) }
exit rings.empty?
