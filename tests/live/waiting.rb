# SPDX-License-Identifier: MIT
# Threads that each wait for something else. Their names, and what they wait for, are in the file "truth".
require "io/wait"
require "json"
require "monitor"
require "net/http"
require "socket"
require_relative "counting"

TRUTH = {}
SERVER = TCPServer.new("127.0.0.1", 0)
PORT = SERVER.addr[1]

# A server of names that never answers: resolv.conf has its address.
SLEEPER = Thread.new { sleep }
SLEEPER.name = "sleeper"
TRUTH["sleeper"] = "sleeps until it is woken"
NAMES = UDPSocket.new
NAMES.setsockopt(:SOCKET, :REUSEADDR, true)
NAMES.bind("127.0.53.1", 53)

def waiting(name, truth)
  TRUTH[name] = truth
  Thread.new do
    Thread.current.name = name
    yield
  end
end

def socket_text(socket)
  local, remote = socket.local_address.inspect_sockaddr, socket.remote_address.inspect_sockaddr
  "fd #{socket.fileno} (socket:[#{socket.stat.ino}] TCP #{local} with #{remote})"
end

def pipe_text(pipe)
  "fd #{pipe.fileno} (pipe:[#{pipe.stat.ino}])"
end

def reads(name, limit = nil)
  socket = TCPSocket.new("127.0.0.1", PORT)
  waiting(name, "waits to read #{socket_text(socket)}#{", at most #{limit} s" if limit}") { yield socket }
end

def with_lock(lock = Mutex.new)
  lock.synchronize { yield lock }
end

# Another process has the lock. From Ruby 3.4 on, fork waits until no name is being resolved.
File.write("locked", "")
holding, holds = IO.pipe
holder = fork do
  File.open("locked").flock(File::LOCK_EX)
  holds.write("x")
  sleep
end
holding.read(1)
at_exit { Process.kill(:KILL, holder) if Process.pid != holder }

threads = [
  reads("IO#read") { |socket| socket.read(1) },
  reads("IO#readpartial") { |socket| socket.readpartial(1) },
  reads("IO#gets") { |socket| socket.gets },
  reads("IO#sysread") { |socket| socket.sysread(1) },
  reads("BasicSocket#recv") { |socket| socket.recv(1) },
  reads("IO#wait_readable") { |socket| socket.wait_readable },
  reads("IO#wait_readable, limit", 100_051) { |socket| socket.wait_readable(100_051) },
  reads("IO.select", 100_052) { |socket| IO.select([socket], nil, nil, 100_052) },
  reads("IO.copy_stream") { |socket| IO.copy_stream(socket, File::NULL) },
  waiting("Kernel#sleep", "sleeps for 100053 s") { sleep 100_053 },
  waiting("Kernel#sleep without limit", "sleeps until it is woken") { sleep },
  waiting("Queue#pop", "waits for an item of Queue OBJECT (0 items, 1 waiting)") { Queue.new.pop },
  waiting("ConditionVariable#wait", "waits for ConditionVariable OBJECT") do
    with_lock { |lock| ConditionVariable.new.wait(lock) }
  end,
  waiting("ConditionVariable#wait, limit", "waits for ConditionVariable OBJECT, at most 100054 s") do
    with_lock { |lock| ConditionVariable.new.wait(lock, 100_054) }
  end,
  waiting("Monitor's condition, limit", "waits for ConditionVariable OBJECT, at most 100055 s") do
    with_lock(Monitor.new) { |lock| lock.new_cond.wait(100_055) }
  end,
  waiting("Mutex#sleep", "sleeps for 100056 s") { with_lock { |lock| lock.sleep(100_056) } },
  waiting("Thread#join", "waits for the end of sleeper, at most 100057 s") { SLEEPER.join(100_057) },
  waiting("getaddrinfo", "resolves the name \"one.example.net\"") { Addrinfo.getaddrinfo("one.example.net", 80) },
  waiting("TCPSocket.new", "resolves the name \"two.example.net\"") { TCPSocket.new("two.example.net", 80) },
  waiting("TCPServer.new", "resolves the name \"four.example.net\"") { TCPServer.new("four.example.net", 80) },
  waiting("Net::HTTP", "resolves the name \"example.com\"") { Net::HTTP.start("example.com", 80, open_timeout: nil) { raise "not reached" } },
]
if RUBY_VERSION >= "3.2"
  threads << waiting("Queue#pop, limit", "waits for an item of Queue OBJECT (0 items, 1 waiting), at most 100058 s") { Queue.new.pop(timeout: 100_058) }
  queue = SizedQueue.new(1) << 1
  threads << waiting("SizedQueue#push, limit", "waits for room in SizedQueue OBJECT (1 of 1 items, 1 waiting), at most 100059 s") do
    queue.push(2, timeout: 100_059)
  end
end

reading, full = IO.pipe
threads << waiting("IO#write", "waits to write #{pipe_text(full)}") { loop { full.write("x" * 65_536) } }
empty, WRITING = IO.pipe
threads << waiting("IO#read of a pipe", "waits to read #{pipe_text(empty)}") { empty.read }

# A server whose backlog is full accepts nobody else.
silent = Socket.new(:INET, :STREAM)
silent.bind(Addrinfo.tcp("127.0.0.1", 0))
silent.listen(0)
address = silent.local_address
IN_BACKLOG = Array.new(4) do
  Socket.new(:INET, :STREAM).tap { |socket| socket.connect_nonblock(address, exception: false) }
end
threads << waiting("connect", "waits to connect (socket TCP with #{address.inspect_sockaddr})") { TCPSocket.new("127.0.0.1", address.ip_port) }

locked = File.open("locked")
threads << waiting("File#flock", "waits to lock fd #{locked.fileno} (LOCKED) held by process #{holder}") { locked.flock(File::LOCK_EX) }

File.mkfifo("fifo")
threads << waiting("File.open of a FIFO", "waits in the system call openat of \"fifo\"") { File.open("fifo") }

sleep 0.01 until threads.all?(&:stop?)

File.write("truth", JSON.generate(TRUTH))
File.write("pid", $$.to_s)
count_forever
