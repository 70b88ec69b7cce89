# SPDX-License-Identifier: MIT
# A master with two workers under the titles that Puma gives them; in the second, three threads wait for a Mutex.
require_relative "counting"

TITLES = { "puma" => ["puma 6.4.2 (tcp://0.0.0.0:9292) [shop]", "puma: cluster worker %d: %d [shop]"],
           "unicorn" => ["unicorn master -c unicorn.rb", "unicorn worker[%d] -c unicorn.rb"] }.freeze
master, worker = TITLES.fetch(ARGV[0])

def get_stuck
  lock = Mutex.new
  holder = Thread.new { lock.synchronize { sleep } }
  Thread.pass until lock.locked?
  waiting = Array.new(3) { Thread.new { lock.synchronize { } } }
  Thread.pass until holder.stop? && waiting.all?(&:stop?)
end

parent = $$
workers = Array.new(2) do |number|
  fork do
    Process.setproctitle(format(worker, number, parent))
    get_stuck if number == 1
    count_forever("worker#{number}", every: 0.001)
  end
end
sleep 0.01 until workers.each_index.all? { |each| File.exist?("worker#{each}") }
Process.setproctitle(master)
File.write("workers", workers.join(" "))
File.write("pid", $$.to_s)
count_forever(every: 0.001)
