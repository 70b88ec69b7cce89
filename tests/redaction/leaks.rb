# SPDX-License-Identifier: MIT

# The forms in which a text may occur.
class Leaks
  def initialize(text)
    json = JSON.generate(text)[1..-2]
    inspected = text.inspect[1..-2]
    wide = %w[UTF-16LE UTF-16BE].map { |encoding| text.encode(encoding).b }
    @forms = [text.b, inspected.b, json.b, JSON.generate(inspected)[1..-2].b, text.b.inspect[1..-2].b, *wide].uniq
  end

  def in?(bytes)
    @forms.any? { |form| bytes.include?(form) }
  end
end
