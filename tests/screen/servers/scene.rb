# SPDX-License-Identifier: MIT
#
# What the servers of the scenes do with a request or a job: each method plants one cause, and tells the test of it.
# Nothing here ends by itself.
require "connection_pool"
require "json"
require "net/http"
require "socket"

module Scene
  # It accepts connections, and never answers.
  PEER = Integer(ENV.fetch("PEER"))
  LOCK = Thread::Mutex.new
  GUARD = Thread::Mutex.new
  POOL = ConnectionPool.new(size: 5, timeout: 3600) { TCPSocket.new("127.0.0.1", PEER) }
  TOLD = { "entered" => 0 }

  def self.enter(name)
    tell { TOLD["entered"] += 1 }
    name ? public_send(name) : yield
  end

  # "truth" is replaced at once, and never half written.
  def self.tell
    GUARD.synchronize do
      yield
      file = "truth.#{Process.pid}"
      File.write("#{file}.new", JSON.generate(TOLD.merge("pid" => Process.pid)))
      File.rename("#{file}.new", file)
    end
  end

  # Ruby 3.1 tells it; before, the system call gettid of x86-64 does.
  def self.thread_id
    Thread.current.respond_to?(:native_thread_id) ? Thread.current.native_thread_id : syscall(186)
  end

  def self.plant(**facts)
    tell { TOLD.update("holder" => thread_id).update(facts.transform_keys(&:to_s)) }
  end

  def self.address(object)
    Kernel.instance_method(:to_s).bind_call(object)[/0x\h+/].hex
  end

  def self.port(socket)
    socket.local_address.ip_port
  end

  def self.mutex
    LOCK.synchronize do
      socket = TCPSocket.new("127.0.0.1", PEER)
      plant(lock: address(LOCK), port: port(socket), line: __LINE__ + 1)
      socket.read(1)
    end
  end

  def self.pool
    POOL.with do |socket|
      plant(port: port(socket), line: __LINE__ + 1)
      socket.read(1)
    end
  end

  def self.dns
    plant(line: __LINE__ + 1)
    Addrinfo.getaddrinfo("rates.example.net", 443)
  end

  # A back reference keeps Ruby from remembering where it has been.
  def self.regexp
    plant(line: __LINE__ + 1)
    /\A(a*)*\1?b/.match?("#{"a" * 60}cb")
  end

  def self.socket
    Net::HTTP.start("127.0.0.1", PEER, read_timeout: 3600) do |http|
      plant(line: __LINE__ + 1)
      http.get("/rates")
    end
  end

  def self.sleep
    plant(line: __LINE__ + 1)
    Kernel.sleep(3600)
  end
end
