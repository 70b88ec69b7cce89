# SPDX-License-Identifier: MIT
# Compresses in a thread, which zlib does without the GVL.
require "zlib"
require_relative "counting"

data = Random.bytes(4_000_000)
Thread.new { loop { Zlib::Deflate.deflate(data, 9) } }.name = "deflate"
sleep 0.5
File.write("pid", $$.to_s)
count_forever(every: 0.01)
