# SPDX-License-Identifier: MIT
# Threads that share the interlock of Rails, lock it, and wait for either. The file "truth" has what the interlocks themselves
# say: for each, which threads share it, which one has locked it, which wait for it, and which wait to lock it.
require "json"
require "active_support"
require "active_support/dependencies"
require "active_support/concurrency/share_lock"
require_relative "counting"

READ, WRITE = IO.pipe

def thread(name)
  Thread.new do
    Thread.current.name = name
    yield
  end
end

class Rates
  def self.fetch
    READ.read(1)
  end
end

class Workers
  def self.finish(other)
    other.value
  end
end

def wait_for(threads)
  quiet = 0
  until quiet == 10
    sleep 0.01
    quiet = threads.all?(&:stop?) ? quiet + 1 : 0
  end
end

# Requests share it, one thread wants to reload the code, and so no other request begins.
shared = ActiveSupport::Dependencies.interlock
running = Array.new(2) { |i| thread("runs #{i}") { shared.running { Rates.fetch } } }
wait_for(running)
reloading = [thread("reloads") { shared.running { shared.unloading { raise "not reached" } } }]
wait_for(reloading)
reloading += Array.new(3) { |i| thread("begins #{i}") { shared.running { raise "not reached" } } }

# One thread reloads the code.
locked = ActiveSupport::Dependencies::Interlock.new
running << thread("has reloaded") { locked.unloading { sleep } }
wait_for(running)
reloading += Array.new(2) { |i| thread("waits for it #{i}") { locked.running { raise "not reached" } } }
reloading << thread("reloads, too") { locked.unloading { raise "not reached" } }

# A request waits for a thread that needs the interlock, which another one wants.
stuck = ActiveSupport::Dependencies::Interlock.new
parties = Queue.new
request = thread("request") { stuck.running { Workers.finish(parties.pop) } }
wait_for([request])
reload = thread("reload") { stuck.running { stuck.unloading { raise "not reached" } } }
wait_for([reload])
helper = thread("helper") { stuck.running { raise "not reached" } }
wait_for([helper])
parties << helper

# A thread that has unlocked it waits for another one, which had let it go first.
left = ActiveSupport::Concurrency::ShareLock.new
goes_first = thread("goes first") { left.sharing { left.yield_shares(purpose: :load, compatible: [:load], block_share: true) { sleep } } }
wait_for([goes_first])
loading = thread("loads") { left.exclusive(purpose: :load, compatible: [:load], after_compatible: [:load]) {} }
wait_for([request, reload, helper, loading, goes_first, *reloading])

state = [shared, locked, stuck, left].map do |lock|
  lock.raw_state do |threads|
    named = ->(&block) { threads.values.select(&block).map { |each| each[:thread].name }.sort }
    break { sharing: named.call { |each| each[:sharing] && each[:sharing].positive? && !each[:exclusive] }, locked: named.call { |each| each[:exclusive] },
            waiting: named.call { |each| each[:sleeper] }, locking: named.call { |each| each[:sleeper] == :start_exclusive } }
  end
end
File.write("truth", JSON.generate(state))
File.write("pid", $$.to_s)
count_forever
