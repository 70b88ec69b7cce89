# SPDX-License-Identifier: MIT
# Runs a file of a CRuby source tree, again and again, in this process:
#
#	ruby tree.rb test|boot|bench FILE

kind, file = ARGV.shift(2)
at = File.expand_path(file)

case kind
when "test"
  $LOAD_PATH.unshift(*%w[tool/lib test/lib tool/test test].map { |folder| File.expand_path(folder) })
  $0 = at
  begin
    require "test/unit"
  rescue LoadError
    require "minitest/autorun"
  end
  begin
    require "core_assertions"
    Test::Unit::TestCase.include(Test::Unit::CoreAssertions)
  rescue LoadError, NameError
    nil
  end
  begin
    require "envutil"
  rescue LoadError
    nil
  end
  load(at)
  Test::Unit::AutoRunner.run(true) if defined?(Test::Unit::AutoRunner) && !at_exit {}
when "boot"
  # The text of each case, in this process; what it is about to show does not matter.
  def run_case(text, *)
    Thread.new { Thread.current.report_on_exception = false; eval(text, TOPLEVEL_BINDING.dup, "case.rb") }.join(2)
  rescue Exception
    nil
  end
  alias assert_equal_text run_case
  def assert_equal(_, text, *rest, **) run_case(text) end
  %i[assert_match assert_finish].each { |name| define_method(name) { |_, text, *rest, **| run_case(text) } }
  %i[assert_not_match].each { |name| define_method(name) { |_, text, *rest, **| run_case(text) } }
  %i[assert_normal_exit assert_valid_syntax].each { |name| define_method(name) { |text, *rest, **| run_case(text) } }
  %i[assert_check show_limit flunk pretty].each { |name| define_method(name) { |*| nil } }
  loop { load(at) rescue nil }
when "bench"
  if at.end_with?(".yml")
    require "yaml"
    data = YAML.load(File.read(at))
    preludes = Array(data["prelude"])
    texts = data["benchmark"]
    texts = [texts] unless texts.is_a?(Array) || texts.is_a?(Hash)
    texts = texts.is_a?(Hash) ? texts.values : texts.map { |each| each.is_a?(Hash) ? each["script"] || each["name"] : each }
    preludes += data["benchmark"].map { |each| each["prelude"] if each.is_a?(Hash) }.compact if data["benchmark"].is_a?(Array)
    own = TOPLEVEL_BINDING.dup
    preludes.each { |text| own.eval(text, "prelude.rb") }
    loop { texts.each { |text| 200.times { own.eval(text.to_s, "benchmark.rb") } } }
  else
    loop { load(at) }
  end
end
