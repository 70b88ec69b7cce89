# SPDX-License-Identifier: MIT
#
#	writes.rb SEED COUNT THREADS
#
# Writes pieces of random sizes for random requests, and counts them: {request => [calls, bytes]}. See requests.rb.
require_relative "requests"

NULL = File.open("/dev/null", "w")
TRUTH = Hash.new { |truth, request| truth[request] = [0, 0] }

def piece(request, size)
  Requests::LOCK.synchronize do
    TRUTH[request][0] += 1
    TRUTH[request][1] += size
  end
  NULL.syswrite("x" * size)
end

Requests.run(ARGV, TRUTH) { |request, random| piece(request, random.rand(1..5000)) }
