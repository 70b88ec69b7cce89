# SPDX-License-Identifier: MIT
# A fleet: starts a process for each object of the JSON array on standard input. Each has its own folder and
# environment, keeps as many orders as the object says, and dies in the method that the object names.
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
