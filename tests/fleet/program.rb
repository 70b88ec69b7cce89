# SPDX-License-Identifier: MIT
# A fleet: a process for each object of the JSON array on standard input dies in its own folder of the method that it
# names, with its environment and as many orders as it says.
require "json"
require_relative "../support/child"

class Order
  def initialize
    @lines = Array.new(10) { "line" }
  end
end

class Till
  def charge = stop

  def refund = stop

  def stop = Process.kill(:ABRT, Process.pid)
end

members = JSON.parse($stdin.read)
pids = members.map do |member|
  fork do
    Dir.chdir(member["folder"])
    ENV.update(member["environment"])
    $orders = Array.new(member["orders"]) { Order.new }
    Till.new.public_send(member["method"])
    sleep
  end
end
pids.each { |pid| Child.wait(pid) }
