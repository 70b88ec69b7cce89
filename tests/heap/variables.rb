# SPDX-License-Identifier: MIT
# Holds objects in variables of an extension and one on a machine stack, prints
# their addresses, and dies.
#
#	ruby variables.rb COPIES
require "json"
require "objspace"
require_relative "holders"

# The machine stack of a thread that has ended has no addresses of the objects.
addresses = Thread.new { Holders.hold }.value.map { |number| format("0x%x", number) }
waits = Thread.new do
  object = Object.new
  Thread.current[:address] = JSON.parse(ObjectSpace.dump(object))["address"]
  Holders.wait(object, ARGV[0].to_i)
end
Thread.pass until waits.stop?
trap("QUIT", "SYSTEM_DEFAULT")
puts JSON.generate([*addresses, waits[:address]])
$stdout.flush
Process.kill(:QUIT, $$)
sleep
