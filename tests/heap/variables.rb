# SPDX-License-Identifier: MIT
# Holds objects in variables of an extension, prints their addresses, and dies.
require "json"
require_relative "holders"

# The machine stack of a thread that has ended has no addresses of the objects.
addresses = Thread.new { Holders.hold }.value.map { |number| format("0x%x", number) }
trap("QUIT", "SYSTEM_DEFAULT")
puts JSON.generate(addresses)
$stdout.flush
Process.kill(:QUIT, $$)
sleep
