# SPDX-License-Identifier: MIT
#
#	functions.rb SEED COUNT THREADS
#
# Calls functions of zlib for random requests, and counts the calls: {request => {function => calls}}. See requests.rb.
require "zlib"
require_relative "requests"

TRUTH = Hash.new { |truth, request| truth[request] = Hash.new(0) }

def piece(request, function)
  Requests::LOCK.synchronize { TRUTH[request][function] += 1 }
  Zlib.public_send(function, "x", 0)
end

# Load libz before rcore looks for its functions.
Zlib.crc32("x")
Requests.run(ARGV, TRUTH) { |request, random| piece(request, %w[crc32 adler32].sample(random: random)) }
