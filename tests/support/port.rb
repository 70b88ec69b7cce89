# SPDX-License-Identifier: MIT
require "socket"
require_relative "child"

# Ports of 127.0.0.1, for servers that must be told one.
module Port
  # The kernel gives these to connections and to servers that ask for any port,
  # and some tests have hundreds of connections.
  ANY = Range.new(*File.read("/proc/sys/net/ipv4/ip_local_port_range").split.map(&:to_i))
  OTHERS = ((10_000..65_535).to_a - ANY.to_a).freeze

  # Returns one that is free. Until the server takes it, only a test that draws
  # the same one can take it.
  def self.free
    TCPServer.open("127.0.0.1", OTHERS.sample || 0) { |server| server.local_address.ip_port }
  rescue Errno::EADDRINUSE
    retry
  end

  # Waits until a process listens on it. Returns false if the process has ended.
  def self.answers?(port, pid)
    wait(pid) { reached?(port) }
  end

  # Waits until the block returns true. Returns false if the process has ended.
  def self.wait(pid)
    deadline = now + Child::LIMIT
    until (is_there = yield) || ended?(pid) || now > deadline
      sleep 0.1
    end
    is_there
  end

  def self.reached?(port)
    TCPSocket.open("127.0.0.1", port, &:close)
    true
  rescue SystemCallError
    false
  end

  # The child is not waited for here, but by who started it.
  def self.ended?(pid)
    File.read("/proc/#{pid}/stat")[/.*\) (\w)/, 1] == "Z"
  end

  def self.now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  private_class_method :reached?, :ended?, :now
end
