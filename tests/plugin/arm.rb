# SPDX-License-Identifier: MIT
require "socket"
require_relative "../aarch64/emulated"
require_relative "cores"

# GDB on 64-bit ARM: a core that qemu wrote, and a process behind qemu's own debug stub.
module Arm
  PARTS = %w[same stacks selection frames values].freeze

  # qemu's cores name no files and contain none of their pages, so GDB must be
  # told where each one was.
  class Core < Cores::Core
    def files
      program, option, folder = ruby.files
      [File.realpath(program), option, File.realpath(folder)]
    end

    def before
      program, _, folder = files
      symbols = report["modules"].select { |one| one["file"] }.map { |one| "add-symbol-file #{one["file"]} -o #{one["start"]}" }
      ["set sysroot #{folder}", "file #{program}", "core-file #{path}", *symbols]
    end
  end

  def self.cases
    ruby = EmulatedRuby.new("3.1")
    gdb = Debugger.multiarch
    core = Core.new(ruby)
    at_exit { core.remove }
    PARTS.map { |part| Case.new("core of #{ruby.name}, #{gdb.name}: #{part}") { Cores.send(part, self, core, gdb) } } +
      [Case.new("process of #{ruby.name}, #{gdb.name}: stub of the emulator") { Arm.stub(self, ruby, gdb, core) }]
  end

  def self.missing
    [EmulatedRuby.new("3.1").missing, Debugger.multiarch.missing]
  end

  PARKED = 'python import json; fiber = next(f for f in json.loads(gdb.execute("ruby-fibers --json", to_string=True))["fibers"] if f["status"] == "suspended"); ' \
           'gdb.execute("ruby-fiber " + fiber["id"]); print("unwound", [f["pc"] for f in fiber["native"] if not f.get("inlined")])'

  # Up to the first sleep, then to one of three calls of one function.
  def self.stub(test, ruby, debugger, core)
    folder = File.dirname(core.path)
    program, option, root = core.files
    port = free_port
    server = Process.spawn(EmulatedRuby::EMULATOR, "-g", port.to_s, "-L", root, program, File.join(__dir__, "programs/living/main.rb"),
                           chdir: folder, %i[in out err] => File::NULL)
    commands = ["ruby-threads", "break rb_thread_wait_for", "continue", "ruby-threads", "ruby-fibers", PARKED, "source #{script(folder)}", "python print(stack())", "ruby-bt",
                "ruby-fiber off", "delete", "break rb_obj_freeze if $ruby_self() == 7", "continue", "ruby-bt", "kill"]
    told = debugger.run(commands, before: ["set sysroot #{root}", "file #{program}", "set breakpoint pending on", "target remote 127.0.0.1:#{port}"])
    test.fail("before Ruby is loaded: #{told[0]}") unless told[0] =~ /\Arcore: not a Ruby process: [^\n]*\n\z/
    test.fail("threads: #{told[3]}") unless told[3] =~ /\AT1  LWP \d+ +main +running, holds the GVL.*\nT2  LWP \d+ /
    test.fail("report: #{told[4]}") unless told[4].include?("aarch64-linux") && told[4].include?("T1.F1") && told[4] =~ /block in Round#go +main.rb|<main> +\S*main.rb/
    unwound = told[5][/^unwound \[(.*)\]/, 1].to_s.scan(/0x\h+/)
    test.fail("no native stack: #{told[5]}") if unwound.size < 5
    test.same("stack of a fiber", unwound.join(" "), told[7].lines.last.to_s.chomp)
    test.fail("bt: #{told[8]}") unless told[8].include?("Fiber.yield")
    test.fail("the condition: #{told[13]}") unless told[13].include?("Kernel#freeze") && told[13].include?("stop_here")
  ensure
    Child.stop(server) if server
  end

  def self.script(folder)
    File.join(folder, "stack.gdb").tap { |path| File.write(path, Cores::STACK) }
  end

  def self.free_port
    TCPServer.open("127.0.0.1", 0) { |socket| socket.addr[1] }
  end
end
