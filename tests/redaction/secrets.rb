# SPDX-License-Identifier: MIT
#
# A program full of secrets. tests/redaction/run lists them in secrets.json and
# searches everything that rcore prints about its core for them.
require "fiber"
require "json"
require_relative "ext/hold"

module Truth
  def self.context(_pairs); end
end
require_relative "profiler"

SECRETS = JSON.parse(File.read(File.join(__dir__, "secrets.json"))).freeze

def secret(name)
  SECRETS.fetch("keys").merge(SECRETS.fetch("patterns"), SECRETS.fetch("strings")).fetch(name).dup
end

Login = Struct.new(:user, :password)

class Client
  def initialize(key)
    @endpoint = "https://example.com/v1"
    @client_secret = key
  end

  def call(number)
    api_key = secret("api_key")
    options = { user: "bob", "Authorization" => "Basic #{secret("basic")}", nested: { secret: secret("nested"), list: [1, 2] } }
    login = Login.new("bob", secret("struct"))
    account = { pin: SECRETS["numbers"]["pin"], "otp" => SECRETS["numbers"]["otp"], "tokens" => [SECRETS["numbers"]["nested"]], visits: 3 }
    pin_code = SECRETS["numbers"]["pin_code"]
    credentials = [secret("first"), secret("second")]
    password = secret("password")
    pin = secret("short")
    copy = [pin.dup]
    escaped_token = secret("escaped")
    private_key = secret("long")
    wide_secret = secret("wide").encode("UTF-16LE")
    patterns = SECRETS.fetch("patterns").values.map { |text| "before #{text} after" }
    forms = (SECRETS.fetch("forms") + SECRETS.fetch("harmless")).each_slice(12).to_a
    symbol = secret("stripe").to_sym
    password_pattern = /#{secret("regexp")}/
    shared = ("a " * 50 + secret("aws") + " and more" * 20)[3..-1]
    diary = secret("diary")
    harmless = { token_count: 5, tokenizer: "whitespace", request_id: "6f1e4a52-1f2d-4d6e-9d43-77b10e12a9c1" }
    body = JSON.generate("password" => secret("json"), "page" => 3)
    die(number + 1)
    [api_key, options, login, account, pin_code, credentials, copy, escaped_token, private_key, wide_secret, patterns, forms, password_pattern, symbol, shared, diary, harmless, body]
  end

  def die(number)
    raise ArgumentError, "cannot log in as bob with #{secret("password")} (#{secret("jwt")}), attempt #{number}"
  rescue ArgumentError
    Hold.and_abort("on a stack: #{secret("stack")} and token=#{secret("api_key")}")
  end
end

Process.setproctitle("app password=#{secret("title")} #{secret("argument")}") if ARGV.first == "title"
Thread.current[:session_token] = secret("fiber_local")
Thread.current.thread_variable_set(:cookie, secret("cookie"))
Thread.new do
  Thread.current.name = "worker token=#{secret("thread")}"
  sleep
end
Fiber.new do
  Profiler.apply(request_id: "r-77", auth_token: secret("context"), user_id: 42)
  Fiber.yield
end.tap(&:resume)
sleep 0.1
Client.new(secret("ivar")).call(1)
