# SPDX-License-Identifier: MIT
# A service that is stuck: one thread reads from a peer that does not answer while it
# holds a lock that many want. Writes what is true of it to the file "truth".
require "fileutils"
require "json"
require "socket"
require_relative "counting"
require_relative "counting"

# A pool as gems have them: its code is not the application's.
FileUtils.mkdir_p("gems/pool-1.0/lib")
File.write("gems/pool-1.0/lib/pool.rb", <<~POOL)
  class Pool
    def initialize(size)
      @jobs = Queue.new
      @threads = Array.new(size) { |number| Thread.new { Thread.current.name = "pool \#{number}"; run } }
    end

    def run
      loop { @jobs.pop.call }
    end

    def post(&job)
      @jobs << job
    end
  end

  class Reactor
    def initialize
      @reading, @writing = IO.pipe
      Thread.new { Thread.current.name = "reactor"; run }
    end

    def run
      IO.select([@reading])
    end
  end
POOL
require File.expand_path("gems/pool-1.0/lib/pool.rb")

LOCK = Mutex.new
SERVER = TCPServer.new("127.0.0.1", 0)
FULL = SizedQueue.new(2)

class Rate
  def self.fetch(socket)
    socket.read(1) # the peer never answers
  end

  def self.all(socket)
    LOCK.synchronize { fetch(socket) }
  end
end
FETCH_LINE = File.readlines(__FILE__).index { |line| line.include?("never answers") } + 1

def named(name)
  Thread.new do
    Thread.current.name = name
    yield
  end
end

socket = TCPSocket.new("127.0.0.1", SERVER.addr[1])
holder = named("holder") { Rate.all(socket) }
sleep 0.01 until LOCK.locked? && holder.stop?
blocked = Array.new(8) { |number| named("blocked #{number}") { Rate.all(socket) } }
pool = Pool.new(20)
reactor = Reactor.new
5.times { pool.post { LOCK.synchronize { raise "not reached" } } }
pushers = Array.new(3) { |number| named("pusher #{number}") { 3.times { FULL << 1 } } }
threads = Thread.list - [Thread.main]
sleep 0.01 until threads.all?(&:stop?) && LOCK.locked? && FULL.num_waiting == 3 && threads.count { |each| each.name&.start_with?("pool") } == 20

File.write("truth", JSON.generate(fetch_line: FETCH_LINE, fd: socket.fileno, peer: socket.local_address.inspect_sockaddr))
File.write("pid", $$.to_s)
count_forever
