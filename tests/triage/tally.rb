# SPDX-License-Identifier: MIT

# Counts checks; several threads may use it.
class Tally
  SHOWN = 6

  def initialize
    @lock = Mutex.new
    @passed = @failed = 0
  end

  # wrong: what was wrong, one line each.
  def note(name, wrong)
    add(name, wrong.empty? ? 1 : 0, wrong.empty? ? 0 : 1, ["FAIL  #{name}", *wrong.map { |line| "      #{line}" }])
  end

  def same(name, wanted, found)
    note(name, wanted == found ? [] : ["#{found.inspect} instead of #{wanted.inspect}"])
  end

  # lines: printed if any failed.
  def add(_name, passed, failed, lines)
    @lock.synchronize do
      @passed += passed
      @failed += failed
      puts lines.first(SHOWN) if failed > 0
    end
  end

  # Returns the exit status.
  def close
    puts "#{@passed} passed, #{@failed} failed"
    @failed.zero? ? 0 : 1
  end
end
