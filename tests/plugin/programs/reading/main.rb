# SPDX-License-Identifier: MIT
# Threads that wait for descriptors, and one for no descriptor, in a library.
require "fiddle"
require "socket"

SERVER = TCPServer.new("127.0.0.1", 0)
CLIENT = TCPSocket.new("127.0.0.1", SERVER.addr[1])
PEER = SERVER.accept
SEMAPHORE = Fiddle.malloc(64)
Fiddle::Pointer.new(SEMAPHORE)[0, 64] = "\0" * 64
WAIT = Fiddle::Function.new(Fiddle::Handle::DEFAULT["sem_wait"], [Fiddle::TYPE_VOIDP], Fiddle::TYPE_INT)

THREADS = [
  Thread.new { CLIENT.gets },
  Thread.new { IO.select([PEER]) },
  Thread.new { IO.pipe.then { |reader, writer| [reader.read, writer] } },
  Thread.new { WAIT.call(SEMAPHORE) },
].freeze
File.write("pid.new", Process.pid.to_s)
File.rename("pid.new", "pid")
sleep
