# SPDX-License-Identifier: MIT
# Tasks and tests.
require "async"
require "minitest"
require "rake"
require "rspec/core"

Stage.row "Rake" do
  outer = Rake::Task.define_task("shop:nightly") { Rake::Task["shop:import"].invoke }
  Rake::Task.define_task("shop:import") { |task| Stage.hold(["Rake", { task: task.name }]) }
  outer.invoke
end

# Async's fibers do not inherit what only this fiber knows.
Stage.row "Async" do
  row = Thread.current[:row]
  Async do |outer|
    outer.async(annotation: "imports prices") do |task|
      Thread.current[:row] = row
      Stage.hold(["Async", { task: task.annotation }])
    end
  end
end

class CartTest < Minitest::Test
  def test_total
    Stage.hold(["Minitest", { test_class: self.class, test: name }])
  end
end

Stage.row("Minitest") { CartTest.new("test_total").run }

CART = RSpec.describe("A cart") do
  it "adds up" do |example|
    Stage.hold(["RSpec", { test: example.full_description, location: example.location }])
  end
end

Stage.row("RSpec") { CART.run(RSpec::Core::NullReporter) }
