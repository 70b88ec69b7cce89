# SPDX-License-Identifier: MIT
require "digest"
require "open3"
require_relative "../weave/gdb"
require_relative "lldb"

# A core converted by rcore, in a plain gdb and a plain lldb.
class Converted
  # whole: the parked fibers whose stacks are in the core.
  def initialize(rcore, ruby, program, report, whole)
    @rcore, @ruby, @program, @report, @whole = rcore, ruby, program, report, whole
    @out = program.path("converted")
    @parked = report["fibers"].select { |fiber| fiber["status"] == "suspended" }
  end

  def differences
    before = Digest::SHA256.file(@program.core).hexdigest
    table, status = Open3.capture2e(@rcore, "convert", "--fibers-as-threads", @program.core, "-o", @out, *@ruby.files)
    return ["convert ends with #{status.exitstatus}: #{table}"] unless status.exitstatus == (@whole == @parked ? 0 : 1)
    problems = told(table) + gdb + gdb_by_hand + lldb + ours
    problems << "the original was changed" unless Digest::SHA256.file(@program.core).hexdigest == before
    problems << "files are left: #{Dir["#{@out}.*"]}" unless Dir["#{@out}.*"].empty?
    problems
  end

  private

  def number(fiber)
    thread, own = fiber["id"].scan(/\d+/).map(&:to_i)
    (thread * 10_000_000) + own
  end

  def native(fiber)
    fiber["native"].reject { |frame| frame["inlined"] }.map { |frame| frame["pc"] }
  end

  def told(table)
    @parked.reject { |fiber| table =~ /^ +#{number(fiber)} +#{Regexp.escape(fiber["id"])} +parked/ }
           .map { |fiber| "the table lacks #{fiber["id"]}" }
  end

  def run_gdb(*commands)
    root = @ruby.root.empty? ? "/" : @ruby.root
    out, = Open3.capture2e("gdb", "-batch", "-nx", "-iex", "set debuginfod enabled off", "-iex", "set auto-load off", "-ex", "set sysroot #{root}",
                           "-ex", "file #{@ruby.outside(@ruby.program)}", "-ex", "core-file #{@out}", *commands.flat_map { |command| ["-ex", command] })
    out.scrub
  end

  def gdb
    script = @program.path("print.py")
    File.write(script, Gdb::PRINT)
    stacks = run_gdb("source #{script}").scan(/^thread (\d+) (.*)$/).to_h { |tid, pcs| [tid.to_i, pcs.split] }
    same("gdb", stacks, @report["threads"].size + @report["other_threads"].size)
  end

  # As a person would ask, without Python.
  def gdb_by_hand
    threads = run_gdb("thread apply all bt").scan(/^Thread \d+ \(.*?LWP (\d+)\)+:\n((?:#\d+ .*\n?)*)/).to_h { |tid, text| [tid.to_i, text] }
    @whole.flat_map do |fiber|
      seen = threads[number(fiber)].to_s.scan(/^#\d+ +(0x\h+) in (?!\?\? \(\)$|0x0)/).flatten.map { |pc| pc.sub(/^0x0*/, "0x") }
      native(fiber) == seen.first(native(fiber).size) ? [] : ["thread apply all bt: #{fiber["id"]} is #{seen}, not #{native(fiber)}"]
    end
  end

  def lldb
    answer, = Lldb.all.first.plain(@out, @ruby, ["@all_pcs"])
    named = answer.value.to_h { |tid, (name, pcs)| [tid.to_i, [name, pcs]] }
    names = @parked.reject { |fiber| named.dig(number(fiber), 0) == fiber["id"] }.map { |fiber| "lldb: no thread is called #{fiber["id"]}" }
    names + same("lldb", named.transform_values(&:last), @report["threads"].size + @report["other_threads"].size)
  end

  # A stack of a fiber begins at a return address of 0, which gdb shows.
  def same(name, stacks, kernel_threads)
    problems = @whole.flat_map do |fiber|
      seen = stacks[number(fiber)] or next ["#{name} has no thread for #{fiber["id"]}"]
      seen = seen[0...-1] if seen.last == "0x0"
      seen == native(fiber) ? [] : ["#{name}: #{fiber["id"]} is #{seen}, not #{native(fiber)}"]
    end
    problems << "#{name} has #{stacks.size} threads, not #{@parked.size + kernel_threads}" unless stacks.size == @parked.size + kernel_threads
    problems
  end

  # rcore itself does not count them as threads.
  def ours
    both = [@program.core, @out].map { |core| Open3.capture2(@rcore, "analyze", "--all", "--native=all", core, *@ruby.files).first.lines.drop(1) }
    both.uniq.size == 1 ? [] : ["rcore reads the converted core otherwise"]
  end
end
