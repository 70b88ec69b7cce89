# SPDX-License-Identifier: MIT
# A parent with two Rubies and one other program under it.
def wait_and_count(name)
  File.open(name, "w") do |file|
    file.sync = true
    (1..).each do |count|
      file.rewind
      file.write(count.to_s)
      sleep 0.001
    end
  end
end

workers = Array.new(2) { |number| fork { wait_and_count("worker#{number}") } }
other = spawn("sleep", "1000")
sleep 0.01 until File.read("/proc/#{other}/comm") == "sleep\n" && workers.each_index.all? { |each| File.exist?("worker#{each}") }
File.write("workers", workers.join(" "))
File.write("other", other.to_s)
File.write("pid", $$.to_s)
wait_and_count("counter")
