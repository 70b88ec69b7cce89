# SPDX-License-Identifier: MIT
require_relative "../live/elsewhere"

# Programs in containers, and loaders that are not root.
module Places
  NOBODY = %w[setpriv --reuid=65534 --regid=65534 --clear-groups].freeze
  CAPABLE = [*NOBODY, "--inh-caps=+bpf,+perfmon", "--ambient-caps=+bpf,+perfmon"].freeze

  def self.cases(workshops)
    own = workshops.keys.find { |ruby| ruby.root.empty? } or return []
    [
      BpfCase.new("container #{own.name}") { Places.container(self, own, workshops[own]) },
      BpfCase.new("two loaders with capabilities #{own.name}") { Places.capable(self, own, workshops[own]) },
      BpfCase.new("no capabilities") { Places.refused(self) },
    ]
  end

  # The process's own namespace numbers its processes differently.
  def self.container(test, ruby, workshop)
    before = [*LiveCase::ROOT, "unshare", "--pid", "--mount", "--fork", "--kill-child"]
    Stacks.compare(test, ruby, workshop, [4], {}, before: before) do |spawned|
      Elsewhere.descendants(spawned).find { |each| Elsewhere.inner_pid(each) == 1 }
    end
  end

  # Root has found the constants; the user who loads the programs needs only the
  # permission to do so.
  def self.capable(test, ruby, workshop)
    other = nil
    Stacks.compare(test, ruby, workshop, [2], {}, loader: CAPABLE) do |pid|
      other = test.load([*CAPABLE, BpfCase.program("stacks")], /\Aready$/, test.params(pid, "--key", "request_id", "--binary"))
      pid
    end
    lines = test.unload(other)
    test.fail("the other loader has #{lines.size} lines") unless lines.size > Stacks::MARKS
  end

  def self.refused(test)
    out, err, status = Open3.capture3(*LiveCase::ROOT, *NOBODY, BpfCase.program("bpf/writes"), "1")
    test.same("status", 2, status.exitstatus)
    test.same("last line", "cannot load the BPF program: Operation not permitted", err.lines.last.to_s.chomp)
    test.same("output", "", out)
  end
end
