# SPDX-License-Identifier: MIT
# Methods, threads and a title with names of characters of 2, 3 and 4 bytes,
# which take one or two columns, and some that combine with the one before.
NAMES = ["\u00e9", "\u65e5", "\u{1f600}", "e\u0301", "a\u65e5"].flat_map { |text| [11, 30, 200].map { |length| text * length } }
$0 = "title_" + "\u65e5\u{1f600}\u00e9" * 100

NAMES.each do |name|
  eval("def m_#{name}(limit)\n  x = 0\n  x += 1 while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) < limit\nend", TOPLEVEL_BINDING)
end
NAMES.each do |name|
  Thread.new do
    Thread.current.name = name
    limit = 0
    loop { send("m_#{name}", limit += 0.002) }
  end
end
File.write("pid", $$.to_s)
File.write("counter", "1")
sleep
