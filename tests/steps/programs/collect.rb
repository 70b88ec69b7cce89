# SPDX-License-Identifier: MIT
require_relative "../marker"

# Garbage, collections, and finalizers.
class Holder
  def initialize(value)
    @value = value
    @list = [value.to_s]
  end

  def self.final
    proc { |id| id.to_s }
  end
end

def round
  list = Array.new(20) { |index| Holder.new(index) }
  ObjectSpace.define_finalizer(list.first, Holder.final)
  list.clear
  GC.start(full_mark: false)
  ("a" * 5000).reverse
  { list => 1 }.rehash
  GC.start
end

rounds = 0
while rounds < Steps::ROUNDS
  Steps.mark
  round
  rounds += 1
end
