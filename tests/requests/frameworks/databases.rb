# SPDX-License-Identifier: MIT
require "socket"

# As much of some databases as a query needs to wait in them. Text in the query
# names its row.
module Databases
  # Each connection is a thread that runs `serve`.
  def self.open(&serve)
    server = TCPServer.new("127.0.0.1", 0)
    Thread.new { loop { Thread.new(server.accept, &serve) } }
    server.local_address.ip_port
  end

  def self.hold(query)
    Stage.held(query[/row: (.+?) \*/, 1])
    sleep
  end

  def self.define_hold(sqlite)
    sqlite.create_function("hold", 1) do |_, row|
      Stage.held(row)
      sleep
    end
  end

  # Version 3.0 of PostgreSQL's protocol: no password, then ReadyForQuery.
  POSTGRESQL = open do |client|
    ready = ["Z", 5, "I"].pack("aNa")
    client.read(client.read(4).unpack1("N") - 4)
    client.write(["R", 8, 0].pack("aNN"), ready)
    sql, bound = nil, false
    loop do
      type, size = client.read(5).unpack("aN")
      body = client.read(size - 4)
      case type
      when "Q" then body.include?("row: ") ? hold(body) : client.write(["C", 8, "SET"].pack("aNZ*"), ready)
      when "P" then sql = body.split("\0")[1]
      when "B" then bound = true
      when "S" then bound ? hold(sql) : client.write(["1", 4].pack("aN"), ready)
      end
    end
  end

  # MySQL's protocol: a greeting, then OK for all that is no query of a row.
  MYSQL = open do |client|
    send_packet(client, 0, [10, "5.7.0", 1, "a" * 8, 0xf7ff, 45, 2, 0x81ff, 21, "a" * 12, "mysql_native_password"].pack("CZ*Va8xvCvvCx10a12xZ*"))
    loop do
      size, sequence = client.read(4).unpack1("V").then { |header| [header & 0xffffff, header >> 24] }
      body = client.read(size)
      hold(body) if body.include?("row: ")
      send_packet(client, sequence + 1, [0, 0, 0, 2, 0].pack("CCCvv"))
    end
  end

  def self.send_packet(client, sequence, body)
    client.write([body.size | sequence << 24, body].pack("Va*"))
  end

  # Redis: OK for what names no row.
  REDIS = open do |client|
    while (size = client.gets&.delete_prefix("*")&.to_i)
      words = Array.new(size) { client.read(client.gets.delete_prefix("$").to_i + 2).chomp }
      words.any? { |word| word.start_with?("row:") } ? hold("#{words.join(" ")} *") : client.write("+OK\r\n")
    end
  end

  # HTTP: the path names the row.
  HTTP = open { |client| hold("row: #{client.gets[%r{/(\S+)}, 1]} *") }

  # Its queue of connections is full: a new one waits.
  FULL = Socket.tcp_server_sockets("127.0.0.1", 0).first.tap { |server| server.listen(0) }
  FIRST = Socket.tcp("127.0.0.1", FULL.local_address.ip_port)
end
