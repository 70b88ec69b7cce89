# SPDX-License-Identifier: MIT

# Threads that wait for a file that another thread loads. Up to Ruby 3.1, rcore knows which thread loads a constant only if no other thread loads a file.
module Loaded
  SLEEPS = Gem::Version.new("3.2")

  def self.cases(rubies)
    rubies.product(%w[alone several]).map { |ruby, kind| LiveCase.new("loading #{kind} #{ruby.name}") { Loaded.look(self, ruby, kind) } }
  end

  def self.look(test, ruby, kind)
    test.with_program(ruby, "loading.rb", kind) do |pid, counter, folder|
      truth = JSON.parse(File.read(File.join(folder, "truth")))
      report, status = test.report("-p", pid)
      test.same("status", 0, status)
      names = report["threads"].to_h { |thread| [thread["id"], thread["name"]] }
      waits = report["fibers"].to_h { |fiber| [names[fiber["thread"]], fiber["wait"]] }
      sleeps = ruby.version < SLEEPS
      %w[uses gets].each do |name|
        known = !sleeps || kind == "alone"
        wait(test, name, waits[name], sleeps ? "autoload" : "mutex", known ? truth["constant"] : nil, names)
        test.same("text of #{name}", sleeps ? "waits for an autoload#{" by T" if known}" : "waits for Mutex  held by T", waits[name]["text"].gsub(/0x\h+|(?<=T)\d+/, ""))
      end
      required(test, waits, truth, names) if kind == "several"
      test.goes_on(counter)
    end
  end

  def self.required(test, waits, truth, names)
    { "waits to require" => '"required"', "waits to require it, too" => '"files/required"' }.each do |name, feature|
      wait(test, name, waits[name], "mutex", truth["required"], names)
      test.same("file of #{name}", feature, waits[name]["feature"])
      test.same("text of #{name}", "waits to require #{feature} for Mutex  held by T", waits[name]["text"].gsub(/0x\h+|(?<=T)\d+/, ""))
    end
  end

  def self.wait(test, name, wait, kind, loader, names)
    return test.fail("#{name} waits for nothing") unless wait
    test.same("what #{name} waits for", [kind, loader], [wait["kind"], names[wait.dig("owner", "thread")]])
  end
end
