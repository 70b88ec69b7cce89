# SPDX-License-Identifier: MIT
# Falcon, with fibers: ruby falcon.rb PORT MARKS
require "async"
require "async/http/endpoint"
require "falcon/server"
require_relative "app"

endpoint = Async::HTTP::Endpoint.new(URI::HTTP.build(host: "127.0.0.1", port: ARGV[0].to_i))
Async { Falcon::Server.new(Falcon::Server.middleware(App.new(ARGV[1]), cache: false), endpoint).run }
