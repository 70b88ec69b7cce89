# SPDX-License-Identifier: MIT

require "json"

# A JSON object in which no key occurs twice: readers keep one of two values, and do not agree on which.
class UniqueKeys < Hash
  def self.parse(text, **options) = JSON.parse(text, object_class: self, **options)

  def []=(key, value)
    raise JSON::ParserError, "the key #{key} occurs twice" if key?(key)
    super
  end
end
