# SPDX-License-Identifier: MIT

# A test: it has a name, and reports what is wrong.
class Case
  attr_reader :name

  def initialize(name, &test)
    @name, @test = name, test
    @differences = []
  end

  def run
    instance_eval(&@test)
    @differences
  rescue StandardError => error
    @differences << "#{error.class}: #{error.message} (#{error.backtrace.first(2).join(' ')})"
  end

  def fail(what)
    @differences << what
  end

  def same(what, wanted, found)
    return if wanted == found
    lines = [wanted, found].map { |text| text.is_a?(String) ? text.lines : Array(text) }
    at = (0..lines.map(&:size).max).find { |index| lines[0][index] != lines[1][index] }
    fail("#{what}: line #{at + 1}: #{lines[0][at].inspect} is wanted, not #{lines[1][at].inspect}")
  end
end
