# SPDX-License-Identifier: MIT
# Pools of connections, of which all connections are in use: Active Record's and
# connection_pool's. Like those gems, and under the same names, they record who
# has which connection. Writes the truth to the file "truth".
require "json"
require "monitor"
require "socket"
require_relative "counting"

# As in connection_pool 2.4.
class ConnectionPool
  class TimedStack
    def initialize(size)
      @max, @que = size, Array.new(size) { Object.new }
      @mutex, @resource = Thread::Mutex.new, Thread::ConditionVariable.new
    end

    def pop(timeout)
      @mutex.synchronize do
        loop do
          return @que.pop unless @que.empty?
          @resource.wait(@mutex, timeout)
        end
      end
    end
  end

  def initialize(size)
    @size, @timeout = size, 20_000
    @available = TimedStack.new(size)
    @key = :"pool-#{@available.object_id}"
  end

  def checkout
    Thread.current[@key] ||= @available.pop(@timeout)
  end

  def with
    yield checkout
  end
end

# As in Active Record 5.0 to 8.0.
module ActiveRecord
  module ConnectionAdapters
    class ConnectionPool
      class Connection
        attr_accessor :owner
      end

      class Queue
        def initialize(pool)
          @cond = pool.new_cond
        end

        def wait_poll(timeout)
          loop { @cond.wait(timeout) }
        end
      end

      include MonitorMixin

      def initialize(size)
        super()
        @size, @connections = size, Array.new(size) { Connection.new }
        @available = Queue.new(self)
      end

      def checkout(timeout = 10_000)
        synchronize do
          free = @connections.find { |each| !each.owner }
          free ? free.owner = Thread.current : @available.wait_poll(timeout)
        end
      end
    end
  end
end

SERVER = TCPServer.new("127.0.0.1", 0)

class Rate
  def self.fetch(socket)
    socket.read(1) # the peer never answers
  end
end
FETCH_LINE = File.readlines(__FILE__).index { |line| line.include?("never answers") } + 1

def named(name)
  Thread.new do
    Thread.current.name = name
    yield
  end
end

database = ActiveRecord::ConnectionAdapters::ConnectionPool.new(5)
other = ConnectionPool.new(3)
socket = TCPSocket.new("127.0.0.1", SERVER.addr[1])
threads = Array.new(5) { named("database holder") { database.checkout && Rate.fetch(socket) } }
threads += Array.new(3) { named("holder") { other.with { Rate.fetch(socket) } } }
sleep 0.01 until threads.all?(&:stop?)
threads += Array.new(6) { named("database waiter") { database.checkout } }
threads += Array.new(4) { named("waiter") { other.with { raise "not reached" } } }
sleep 0.01 until threads.all?(&:stop?)

File.write("truth", JSON.generate(fetch_line: FETCH_LINE))
File.write("pid", $$.to_s)
count_forever
