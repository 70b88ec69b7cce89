# SPDX-License-Identifier: MIT
# Puma, with threads: ruby puma.rb PORT MARKS
require "puma"
require "puma/server"
require_relative "app"

server = Puma::Server.new(App.new(ARGV[1]), nil, min_threads: 24, max_threads: 24)
server.add_tcp_listener("127.0.0.1", ARGV[0].to_i)
server.run.join
