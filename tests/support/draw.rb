# SPDX-License-Identifier: MIT
require "zlib"

# An expensive test draws some of the Rubies, variants or cases that it knows: a defect that only one of them shows is
# found by one of the next runs. VARIANTS=all takes all of them, SEED=N repeats a draw.
module Draw
  SEED = Integer(ENV["SEED"] || rand(1_000_000))

  # For a program that was asked for certain cases: draws nothing.
  def self.take_all
    @takes_all = true
  end

  def self.all?
    ENV["VARIANTS"] == "all" || @takes_all == true
  end

  # Returns `count` items of the list in its order, or all. `key` says what they are drawn for: other keys draw others.
  def self.of(list, count, key)
    return list if all? || list.size <= count
    @is_partial = true
    list.each_index.to_a.sample(count, random: Random.new(SEED + Zlib.crc32(key))).sort.map { |index| list[index] }
  end

  RUBY = /\b\d\.\d(?:-\w+)?\b/.freeze

  # Draws for each kind of cases: those whose names differ only in what matches `pattern` ("busy 3.1", "busy 3.3").
  def self.of_each_kind(cases, count, pattern = RUBY)
    kept = cases.group_by { |each| each.name.sub(pattern, "") }.flat_map { |kind, same| of(same, count, kind) }
    cases & kept
  end

  # Returns the cases whose names contain all these words. A run of nothing would pass.
  def self.named(cases, words)
    chosen = cases.select { |each| words.all? { |word| each.name.include?(word) } }
    chosen.empty? ? abort("#{$PROGRAM_NAME}: no case is chosen#{words.map { |word| ", \"#{word}\"" }.join}") : chosen
  end

  # Prints how to repeat what was drawn up to now.
  def self.say(program)
    puts "#{program}: VARIANTS=all runs all cases; seed #{SEED}" if @is_partial
  end
end
