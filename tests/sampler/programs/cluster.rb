# SPDX-License-Identifier: MIT
# A master that forks workers. Each of them uses another amount of processor
# time, and writes down how much:
#
#	cluster.rb WORKERS SECONDS
#
# Worker N works N + 1 times as long as the first one, in two threads. The last
# one ends when it is ready; the others wait.
WORKERS, SECONDS = Integer(ARGV[0]), Float(ARGV[1])

def cpu
  Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
end

def work(limit)
  x = 0
  x += 1 while x & 255 != 0 || cpu < limit
end

$0 = "puma 6.4.2 (tcp://0.0.0.0:3000) [shop]"
File.write("pid", $$.to_s)
workers = Array.new(WORKERS) do |number|
  fork do
    $0 = "puma: cluster worker #{number}: #{Process.ppid} [shop]"
    File.write("ready#{number}", "")
    sleep 0.01 until File.exist?("go")
    from = cpu
    Array.new(2) { Thread.new { work(from + SECONDS * (number + 1)) } }.each(&:join)
    File.write("note#{number}.new", (cpu - from).to_s)
    File.rename("note#{number}.new", "note#{number}")
    # What a process does after its last sample is lost, so it does nothing then.
    number == WORKERS - 1 ? sleep(1) : sleep
  end
end
sleep 0.01 until WORKERS.times.all? { |number| File.exist?("ready#{number}") }
File.write("counter", "1")
Process.wait(workers.last)
File.write("ended", "")
sleep
