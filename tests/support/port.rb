# SPDX-License-Identifier: MIT
require "socket"
require_relative "child"

# Ports of 127.0.0.1, for servers that must be given one.
module Port
  # The kernel assigns these to connections, of which some tests have hundreds,
  # and to servers that ask for any port.
  ANY = Range.new(*File.read("/proc/sys/net/ipv4/ip_local_port_range").split.map(&:to_i))
  OTHERS = ((10_000..65_535).to_a - ANY.to_a).freeze

  # Returns a port that is free. Only a test that draws the same one can take it
  # before the server does.
  def self.free
    TCPServer.open("127.0.0.1", OTHERS.sample || 0) { |server| server.local_address.ip_port }
  rescue Errno::EADDRINUSE
    retry
  end

  # Waits until a process listens on the port. Returns false if the process has ended.
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

  # Does not reap the child: whoever started it does.
  def self.ended?(pid)
    File.read("/proc/#{pid}/stat")[/.*\) (\w)/, 1] == "Z"
  end

  def self.now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  private_class_method :reached?, :ended?, :now
end
