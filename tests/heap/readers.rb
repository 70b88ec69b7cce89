# SPDX-License-Identifier: MIT
# Prints, as JSON, what three readers of ObjectSpace.dump_all's format find in a file.
#
#	ruby readers.rb FILE ADDRESS
require "json"
require "open3"
require "rbconfig"
require "set"
require "sheap"

def call(gem, program, *arguments)
  out, status = Open3.capture2e(RbConfig.ruby, Gem.bin_path(gem, program), *arguments)
  raise "#{gem}: #{out}" unless status.success?
  out
end

# Leaves out the name of the file, which differs.
def lines(text, file) = text.gsub(file, "FILE").lines(chomp: true).reject { |line| line.strip.empty? }

# Sorts the warnings: the program prints them in the order of the file's lines.
def profile(file)
  warnings, rest = lines(call("heap-profiler", "heap-profiler", file), file).partition { |line| line.start_with?("WARNING") }
  warnings.map { |line| line[/:address=>\d+/] }.sort + rest.map(&:squeeze)
end

def explore(file, address)
  heap = Sheap::Heap.new(file)
  object = heap.at(address)
  orders = heap.class_named("Order").first.instances
  { kept: object.inspect, class: object.klass.name, referrers: object.inverse_references.map(&:address).sort,
    orders: orders.map(&:address).sort, strings: heap.strings.map { |string| [string.memsize, string.value] }.tally.sort_by(&:inspect),
    is_found: heap.find_path(object).last.address, starts_at: heap.find_path(object).first.root? }
end

file, address = ARGV
puts JSON.generate("sheap" => explore(file, address), "heapy" => lines(call("heapy", "heapy", "read", file), file),
                   "heap-profiler" => profile(file))
