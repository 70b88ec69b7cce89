# SPDX-License-Identifier: MIT

# Counts in a file forever, so that a test sees that the program still runs;
# calls the block each time.
def count_forever(path = "counter", every: 0.01)
  File.open(path, "w") do |file|
    file.sync = true
    (1..).each do |count|
      file.rewind
      file.write(count.to_s)
      sleep every
      yield if block_given?
    end
  end
end
