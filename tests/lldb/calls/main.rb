# SPDX-License-Identifier: MIT
# Calls again and again a method that calls the C library.
require_relative "context"

class Caller
  def call(user_id, name, ratio: 0.5)
    symbol = :"u\u00e9#{user_id % 3}"
    even = user_id.even?
    Process.getpgid(0)
    [symbol, even]
  end
end

File.write("pid", Process.pid)
File.rename("pid", "ready")
number = 0
loop do
  context(number: number + 1, tenant: "t\u00e9")
  Caller.new.call(number += 1, "user \"#{number}\"\n")
  sleep 0.01
end
