# SPDX-License-Identifier: MIT
# Threads that each work on something, which they write to the file "truth" by their names.
require "json"
require "minitest"
require "net/http"
require "rake"
require "socket"
require_relative "counting"

SERVER = TCPServer.new("127.0.0.1", 0)
# Its queue of connections is full: a new one waits.
FULL = Socket.tcp_server_sockets("127.0.0.1", 0).first
FULL.listen(0)
FIRST = TCPSocket.new("127.0.0.1", FULL.local_address.ip_port)
TRUTH = {}

def working(name, truth)
  TRUTH[name] = truth
  Thread.new do
    Thread.current.name = name
    yield
  end
end

class OrderTest < Minitest::Test
  def test_slow
    sleep
  end
end

# As Rack's middlewares are: the innermost waits.
class Layer
  def initialize(inner)
    @inner = inner
  end

  def call(env)
    @inner ? @inner.call(env) : sleep
  end
end

# What the test's own recognizers find.
class Importer
  Options = Struct.new(:tenant, :rows)

  def initialize(options)
    @options = options
  end

  def run(depth)
    depth.zero? ? sleep : run(depth - 1)
  end
end

id = rand(1_000_000)
port = SERVER.addr[1]
env = {"REQUEST_METHOD" => "PUT", "PATH_INFO" => "/cart", "HTTP_HOST" => "shop-#{id}", "HTTP_X_REQUEST_ID" => "r#{id}"}
20.times { |number| env["HTTP_X_#{number}"] = number.to_s }
threads = [
  working("rake", "Rake" => {task: "nightly#{id}".inspect}) do
    Rake::Task.define_task("nightly#{id}") { sleep }.invoke
  end,
  working("minitest", "Minitest" => {test_class: "OrderTest", test: '"test_slow"'}) { OrderTest.new("test_slow").run },
  working("rack", "Rack" => {method: '"PUT"', path: '"/cart"', host: "shop-#{id}".inspect, request_id: "r#{id}".inspect}) do
    Layer.new(Layer.new(Layer.new(nil))).call(env)
  end,
  working("http", "Net::HTTP" => {http_host: '"127.0.0.1"', http_port: port.to_s, http_method: '"DELETE"', http_path: "/rates/#{id}".inspect}) do
    Net::HTTP.start("127.0.0.1", port, read_timeout: 600) { |http| http.delete("/rates/#{id}") }
  end,
  working("connection", "Socket" => {connect_host: '"127.0.0.1"', connect_port: FULL.local_address.ip_port.to_s}) do
    TCPSocket.new("127.0.0.1", FULL.local_address.ip_port)
  end,
  working("both", "Rake" => {task: '"outer"'}, "Minitest" => {test_class: "OrderTest", test: '"test_slow"'}) do
    Rake::Task.define_task("outer") { OrderTest.new("test_slow").run }.invoke
  end,
  working("importer", "Importer" => {tenant: "t#{id}".inspect, first: "3", depth: "0"}) do
    Importer.new(Importer::Options.new("t#{id}", {list: [id, 3]})).run(2)
  end,
  working("nothing", {}) { sleep },
]
sleep 0.01 until threads.all?(&:stop?)
SERVER.accept if IO.select([SERVER], nil, nil, 10)

File.write("truth", JSON.generate(TRUTH))
File.write("pid", $$.to_s)
count_forever
