# SPDX-License-Identifier: MIT

# The end of a test that draws what it looks at. It tries so many states of a running Ruby that now and then
# it finds one that nobody has seen before. With --tolerate N up to N findings are printed, and counted as
# skipped: `make check` must not fail by chance on a change that has nothing to do with them. `make
# check-long` tolerates none.
module Tolerance
  def self.finish(passed, found, tolerated)
    failed = found > tolerated ? found : 0
    skipped = found - failed
    puts "#{skipped} found, and tolerated: look into them" if skipped.positive?
    puts "#{passed} passed, #{failed} failed#{", #{skipped} skipped" if skipped.positive?}"
    exit(failed.zero? ? 0 : 1)
  end
end
