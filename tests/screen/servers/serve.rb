# SPDX-License-Identifier: MIT
# Falcon, in this process: serve.rb PORT
require "async"
require "async/http/endpoint"
require "falcon/server"
require_relative "scene"

APP = lambda do |env|
  Scene.enter(env["PATH_INFO"].delete_prefix("/"))
  [200, {}, []]
end

endpoint = Async::HTTP::Endpoint.new(URI::HTTP.build(host: "127.0.0.1", port: ARGV[0].to_i))
Async { Falcon::Server.new(Falcon::Server.middleware(APP, cache: false), endpoint).run }
