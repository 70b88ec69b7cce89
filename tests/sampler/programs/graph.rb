# SPDX-License-Identifier: MIT
# Random calls of methods that take less than a microsecond, forever:
#
#	graph.rb SEED [blocks]
#
# With blocks, half of the calls are in one that is made a Proc, which moves the environments around it to the heap, and
# a third of the methods matches a Regexp.
#
# Writes who may call whom to the file edges, then its pid, and then counts.
METHODS = 40
# Methods in C, with no argument, one and two.
IN_C = { "Integer#bit_length" => "s.bit_length", "Integer#fdiv" => "s.fdiv(3)", "Integer#gcd" => "s.gcd(6)",
         "Comparable#between?" => "s.between?(1, 9)", "Integer#pow" => "s.pow(2, 7)" }.freeze
# YJIT pushes frames for these, too.
OPERATORS = /(?<= )(?:>>|&|\*|\+|%|==)(?= )/.freeze
random = Random.new(Integer(ARGV[0]))
with_blocks = ARGV[1] == "blocks"
TEXT = "an ab"
edges = ["Comparable#between? Integer#<=>"]
source = +"class Graph\n"
METHODS.times do |number|
  left = METHODS - 1 - number
  callees = left.zero? ? [] : Array.new(1 + random.rand(3)) { number + 1 + random.rand([left, 8].min) }
  callees.each { |callee| edges << "Graph#m#{number} Graph#m#{callee}" }
  locals = Array.new(random.rand(3)) { |place| "l#{place} = #{random.rand(100)}; " }.join
  maybe = callees.size == 3 ? "m#{callees[1]}(s) if s % #{3 + random.rand(5)} == 0; " : ""
  in_c = IN_C.to_a.sample(random.rand(3), random: random)
  last = case callees.size
         when 0 then "s"
         when 1 then "m#{callees[0]}(s >> 1)"
         else "s & #{1 << random.rand(4)} == 0 ? m#{callees[0]}(s * 5 + 1) : m#{callees[-1]}(s * 3 + 7)"
         end
  if with_blocks && random.rand(2).zero?
    last = "lambda { #{last} }.call"
    edges << "Graph#m#{number} block in Graph#m#{number}"
    callees.each { |callee| edges << "block in Graph#m#{number} Graph#m#{callee}" }
    last.scan(OPERATORS) { |name| edges << "block in Graph#m#{number} Integer##{name}" }
  end
  matched = with_blocks && random.rand(3).zero? ? "TEXT =~ /a(b)/; " : ""
  body = "#{locals}#{matched}#{in_c.map { |_, call| "#{call}; " }.join}#{maybe}#{last}"
  [*in_c.map(&:first), *body.scan(OPERATORS).map { |name| "Integer##{name}" }].each { |callee| edges << "Graph#m#{number} #{callee}" }
  source << "  def m#{number}(s); #{body}; end\n"
end
File.write("edges", edges.uniq.join("\n"))
eval("#{source}end", TOPLEVEL_BINDING, "graph.rb")
graph = Graph.new
File.write("pid", $$.to_s)
state = random.rand(1 << 30)
count = 0
loop do
  1000.times do
    state = (state * 1103515245 + 12345) & 0x3fffffff
    graph.m0(state)
    graph.m3(state)
    graph.m7(state)
  end
  File.write("counter", (count += 1).to_s) if (count += 1) % 64 == 2
end
