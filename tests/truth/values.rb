# SPDX-License-Identifier: MIT
require "json"
require "open3"
require_relative "../support/unique_keys"

# Compares what `rcore print` shows of values with what their own inspect
# printed.
class Values
  RCORE = ENV["RCORE"] || File.expand_path("../../build/rcore", __dir__)
  WHOLE = %w[--depth 100 --max-string 1000000 --max-items 100000 --max-text 100000000].freeze
  AT_ONCE = 30

  attr_reader :differences

  # told: [VALUE, inspect in hex, class] for each value.
  def initialize(told, core, files)
    @told, @core, @files = told, core, files
    @differences = []
  end

  def run
    @told.each_slice(AT_ONCE) { |told| compare(told, print(told.map(&:first))) }
    self
  end

  private

  def print(values)
    out, err, status = Open3.capture3(RCORE, "print", "--json", *WHOLE, @core, *@files, *values, binmode: true)
    @differences << "rcore print ended with #{status.exitstatus}: #{err}" unless status.success? && err.empty?
    UniqueKeys.parse(out.force_encoding("UTF-8"), max_nesting: false)["values"]
  rescue JSON::ParserError => error
    @differences << "rcore print: no JSON: #{error.message[0, 200]}"
    []
  end

  def compare(told, shown)
    told.zip(shown) do |(value, text, name), printed|
      text = [text].pack("H*")
      printed ||= {}
      same(value, text, printed["text_hex"] ? [printed["text_hex"]].pack("H*") : printed["text"].to_s.b)
      same("class of #{value}", name.b, printed["class"].to_s.b)
      @differences << "#{value} #{text}: #{printed['problem']}" if printed["problem"]
    end
  end

  def same(what, told, shown)
    return if told == shown
    @differences << "#{what}: told #{told.inspect}, shown #{shown.inspect}"
  end
end
