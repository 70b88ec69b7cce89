# SPDX-License-Identifier: MIT
require_relative "../marker"

# Code that is compiled while it runs: eval, require, load, class bodies, hooks.
def round
  eval("1 + 1")
  binding.eval("3")
  binding.eval("eval('[1].each { |number| number.to_s }')")
  Object.class_eval { def evaluated; 3; end }
  evaluated
  Object.new.instance_eval("self.class")
  load File.join(__dir__, "../loaded.rb")
  shape = Class.new do
    def self.inherited(other)
      other.name
    end
  end
  Class.new(shape).new
  ObjectSpace.each_object(Module).first
  at = Module.new { def self.included(other); other; end }
  Class.new { include at }
end

rounds = 0
while rounds < Steps::ROUNDS
  Steps.mark
  round
  rounds += 1
end
