# SPDX-License-Identifier: MIT
require_relative "forms"

# The secrets of a run, made anew for each.
class SecretsOf
  def initialize
    @keys = %w[api_key basic nested struct first second password json ivar fiber_local cookie thread context title argument option regexp].to_h { |name| [name, word] }
    @keys["short"] = "Zq#{rand(10..99)}?"
    @keys["escaped"] = "tab\tquote\"Zürich#{word}"
    @keys["long"] = Array.new(40) { word }.join(" ")
    @keys["wide"] = word
    @patterns = {
      "aws" => "AKIA#{random("A".."Z", 16)}", "jwt" => "eyJ#{random("a".."z", 20)}.eyJ#{random("a".."z", 30)}.#{random("A".."Z", 30)}",
      "pem" => "-----BEGIN RSA PRIVATE KEY-----\n#{word}#{word}\n#{word}\n-----END RSA PRIVATE KEY-----",
      "bearer" => "Bearer #{word}", "email" => "#{random("a".."z", 9)}@mail.example.com", "url" => "amqp://user:#{word}@db.example.com/x",
      "github" => "ghp_#{random("a".."z", 36)}", "slack" => "xoxb-#{rand(10**11..10**12)}-#{random("a".."z", 24)}",
      "stripe" => "sk_live_#{random("a".."z", 24)}", "hex" => SecureRandom.hex(24), "base64" => SecureRandom.base64(48).tr("/+", "xY").delete("=") + "a1B2",
      "card" => card
    }
    @forms = Forms.planted
    @strings = { "diary" => "Dear diary #{random("a".."z", 10)}", "stack" => "On the stack #{random("a".."z", 10)}" }
    @numbers = { "pin" => rand(10**9...10**10), "otp" => rand(10**7...10**8) + 0.625, "pin_code" => rand(10**9...10**10), "nested" => rand(10**9...10**10) }
    @environment = word
  end

  attr_reader :environment

  def to_h
    { "keys" => @keys, "patterns" => @patterns, "strings" => @strings, "numbers" => @numbers, "forms" => @forms.values.map(&:first), "harmless" => Forms::HARMLESS }
  end

  def arguments
    ["--password", @keys["argument"], "--token=#{@keys["option"]}", @patterns["url"]]
  end

  # What reports of a variant show of them where nothing is redacted.
  def shown(variant)
    hidden = %w[basic] + (variant == "title" ? [] : %w[title])
    parts(@keys).merge(parts(@patterns), @strings, forms, numbers).reject { |name, _| hidden.include?(name) || name == "stack" || name == "long" }
  end

  def forbidden(mode)
    texts = parts(@keys).merge(parts(@patterns), forms, numbers)
    texts = texts.merge(@strings) unless mode == "secrets"
    texts.merge("environment" => @environment)
  end

  def harmless
    ["r-77", "tokenizer", "whitespace", "token_count", "bob", "6f1e4a52-1f2d-4d6e-9d43-77b10e12a9c1", "Client#call", *Forms::HARMLESS.reject { |text| text =~ /['#]/ }]
  end

  private

  def numbers = @numbers.transform_values(&:to_s)

  def forms = @forms.transform_values(&:last)

  # Even a part of a secret must not be printed.
  def parts(texts)
    texts.flat_map do |name, text|
      secret = text.delete_prefix("Bearer ").sub(%r{amqp://user:(.*)@.*}, '\1')
      [[name, secret], *(secret.lines.drop(1).first(1).map { |line| ["#{name}, line 2", line.chomp] })]
    end.to_h
  end

  def random(range, count)
    letters = range.to_a
    Array.new(count) { letters.sample }.join
  end

  def word
    "#{random("a".."z", 4)}-#{random("A".."Z", 3)}#{rand(1000..9999)}"
  end

  def card
    digits = [4, *Array.new(14) { rand(10) }]
    sum = digits.reverse.each_with_index.sum { |digit, index| index.even? ? (digit * 2).digits.sum : digit }
    (digits << (10 - sum % 10) % 10).join
  end
end
