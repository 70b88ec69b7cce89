# SPDX-License-Identifier: MIT
# Keeps values of Ruby in variables of Ruby and of C, and writes what they are.
# `look` does not return: it aborts, or sleeps if the argument is `stay`.
require "json"
require_relative "native"

module Shop
  class Base
    OLD = "old"
  end

  module Priced
    PRICE = 1.5
  end

  class Order < Base
    include Priced
    LIMIT = [1, [2, "three"]].freeze
    HIDDEN = { :a => 1 }
    private_constant :HIDDEN
    autoload :Later, "later"
    Ärger = :ärger

    def initialize(number)
      @number, @lines = number, [[1, "one"], [2, nil]]
      @base = Base.new
    end

    # Finds private constants, too.
    def found(name)
      name.delete_prefix("::").split("::").inject(Object) { |scope, each| scope.const_get(each) }
    end

    def send_off(urgent, to: "Köln")
      café = "crème"
      file = File.join(__dir__, "truth.json")
      File.write(file, JSON.generate(constants: CONSTANTS.to_h { |name| [name, found(name).inspect] }, self: inspect, urgent: urgent.inspect,
                                     to: to.inspect, café: café.inspect, lines: @lines.inspect, base: @base.inspect))
      look(to, @lines)
      [café, urgent, to]
    end
  end
end

$stay = ARGV[0] == "stay"
File.write("pid", Process.pid.to_s)
ORDER = Shop::Order.new(7)
CONSTANTS = %w[ORDER Shop Shop::Order Shop::Order::LIMIT ::Shop::Order::LIMIT Shop::Order::HIDDEN Shop::Order::OLD Shop::Order::PRICE
               Shop::Order::Ärger Shop::Base RUBY_VERSION Float::INFINITY Errno::ENOENT Process::WNOHANG].freeze
ORDER.send_off(true)
