# SPDX-License-Identifier: MIT
# What is asked of other servers, which databases.rb plays.
require "net/http"
require "redis"
require "redis_client"
require_relative "databases"

def redis_row(name, command)
  command = [*command, "row: #{name} *"]
  Stage.row(name, ["Redis", { redis_command: command, redis_host: "127.0.0.1" }]) { yield command }
end

def redis_client
  RedisClient.config(host: "127.0.0.1", port: Databases::REDIS, timeout: 600).new_client
end

redis_row("redis-client call", %w[GET]) { |command| redis_client.call(*command) }
redis_row("redis-client call_v", %w[GET]) { |command| redis_client.call_v(command) }
redis_row("redis-client blocking_call", %w[BLPOP]) { |command| redis_client.blocking_call(600, *command) }
redis_row("redis-client blocking_call_v", %w[BLPOP]) { |command| redis_client.blocking_call_v(600, command) }
redis_row("redis", %w[GET]) { |command| Redis.new(host: "127.0.0.1", port: Databases::REDIS, timeout: 600).call(*command) }

http = { http_host: "127.0.0.1", http_port: Databases::HTTP }
Stage.row("http", ["Net::HTTP", { **http, http_method: "POST", http_path: "/http" }]) do
  Net::HTTP.start(http[:http_host], http[:http_port], read_timeout: 600) { |connection| connection.post("/http", "x") }
end

# Each row adds a socket that waits for a connection. A folder that Ruby is run
# in with chroot has no /proc/net/tcp.
FULL_PORT = Databases::FULL.local_address.ip_port
SYN_SENT = 2
MOST_DESCRIPTORS = 256

def connecting?(descriptor)
  socket = BasicSocket.for_fd(descriptor)
  socket.autoclose = false
  socket.getsockopt(:TCP, :INFO).data.unpack1("C") == SYN_SENT
rescue SystemCallError
  false
end

def connecting
  (0...MOST_DESCRIPTORS).count { |descriptor| connecting?(descriptor) }
end

def connection_row(name, *outer)
  Stage.row(name, *outer, ["Socket", { connect_host: "127.0.0.1", connect_port: FULL_PORT }]) do
    before = connecting
    Thread.new do
      sleep 0.01 until connecting > before
      Stage.held(name)
    end
    yield
  end
end

connection_row("TCPSocket") { TCPSocket.new("127.0.0.1", FULL_PORT) }
connection_row("Socket.tcp") { Socket.tcp("127.0.0.1", FULL_PORT) }
connection_row("http connect", ["Net::HTTP", { http_host: "127.0.0.1", http_port: FULL_PORT }]) do
  Net::HTTP.start("127.0.0.1", FULL_PORT, open_timeout: 600)
end
