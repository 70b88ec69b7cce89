# SPDX-License-Identifier: MIT
# Compares the limits that pages name with the constants of the source. The first group of each pattern is the number;
# `unit` is what it counts in.
module Limits
  KIB = 1 << 10
  MIB = 1 << 20

  ALL = [
    # page, pattern, file, constant, unit
    ["docs/profile.md", /the widest ([\d,]+) frames/, "report/profile/page/page.h", "RCORE_PAGE_FRAMES", 1],
    ["docs/profile.md", /the ([\d,]+) methods with the most time/, "report/profile/page/page.h", "RCORE_PAGE_METHODS", 1],
    ["docs/profile.md", /total, ([\d,]+) threads/, "report/profile/page/page.h", "RCORE_PAGE_THREADS", 1],
    ["docs/profile.md", /threads, ([\d,]+) processes/, "report/profile/page/page.h", "RCORE_PAGE_PROCESSES", 1],
    ["docs/profile.md", /([\d,]+) keys of labels/, "report/profile/page/page.h", "RCORE_PAGE_KEYS", 1],
    ["docs/profile.md", /labels and ([\d,]+) values/, "report/profile/page/page.h", "RCORE_PAGE_VALUES", 1],
    ["docs/profile.md", /cuts names after ([\d,]+) bytes/, "report/profile/page/page.h", "RCORE_PAGE_TEXT_MAX", 1],
    ["docs/profile.md", /for a (\d+)th of the recording/, "report/profile/page/page.h", "RCORE_PAGE_BINS", 1],
    ["docs/heap.md", /the ([\d,]+) largest areas/, "command/heap/heap.c", "PAGE_NODES", 1],
    ["docs/heap.md", /areas and ([\d,]+) classes/, "report/html/heap_page.c", "CLASSES", 1],
    ["docs/heap.md", /cuts names after ([\d,]+) bytes/, "report/html/heap_page.c", "TEXT_MAX", 1],
    ["docs/heap.md", /the ([\d,]+) objects, classes and roots/, "command/heap/heap.c", "PAGE_RETAINED", 1],
    ["docs/heap.md", /up to (\d+) million slots/, "command/heap/heap.c", "FULL_SLOTS", 1_000_000],
    ["docs/heap.md", /has at most (\d+) steps/, "heap/trails.h", "RCORE_TRAIL_DEPTH", 1],
    ["docs/heap.md", /longer than (\d+) ms/, "session/live/running_copy.c", "DEFAULT_LIMIT_MS", 1],
    ["docs/heap.md", /another limit, (\d+) at most/, "target/live/live_stop.h", "RCORE_STOP_LIMIT_MS", 1],
    ["docs/live.md", /more than (\d+) MB of stacks/, "session/live/running_rest.c", "ALWAYS_EXACT", MIB],
    ["docs/record.md", /At most ([\d,]+) processes/, "sampler/bpf/shared.bpf.h", "PROCESSES", 1],
    ["docs/record.md", /up to (\d+) slots and/, "sampler/bpf/record.h", "RCORE_BPF_SLOTS", 1],
    ["docs/record.md", /slots and (\d+) Strings/, "sampler/bpf/record.h", "RCORE_BPF_STRINGS", 1],
    ["docs/record.md", /first (\d+) bytes of each String/, "sampler/bpf/record.h", "RCORE_BPF_TEXT", 1],
    ["docs/record.md", /a stack of more than (\d+) KiB/, "sampler/bpf/record.h", "RCORE_BPF_FRAMES_MAX", KIB],
    ["docs/record.md", /the innermost (\d+) KiB/, "sampler/bpf/record.h", "RCORE_BPF_MACHINE_MAX", KIB],
    ["docs/record.md", /up to (\d+) KiB outside of its VM stack/, "sampler/bpf/record.h", "RCORE_BPF_OUTER_MAX", KIB],
    ["docs/record.md", /at most ([\d,]+) frames are unwound/, "sampler/native/native_copied.c", "FRAMES_MAX", 1],
    ["docs/record.md", /at most (\d+) MiB of them/, "sampler/away/away.h", "RCORE_AWAY_KEPT_MAX", MIB],
    ["docs/record.md", /repeat the option, up to (\d+)\./, "sampler/bpf/engine.h", "RCORE_BPF_FUNCTIONS", 1],
    ["docs/recording.md", /in the file, at most (\d+) MiB/, "profile/format.h", "RCORE_BLOCK_SIZE_MAX", MIB],
    ["docs/recording.md", /its size \(at most (\d+)\)/, "profile/profile.h", "RCORE_PROFILE_TEXT_MAX", 1],
    ["docs/recording.md", /pairs \(at most (\d+)\)/, "profile/profile.h", "RCORE_PROFILE_LABELS_MAX", 1],
    ["docs/ci.md", /gives up after (two) minutes/, "cli/collect/collect.c", ".seconds", 60],
    ["docs/ci.md", /more than (\d+) GiB of memory/, "cli/collect/collect.c", ".megabytes", KIB],
    ["docs/ci.md", /need more than (\d+) GiB \(`--max-use`\)/, "cli/collect/collect.c", ".limits = {.megabytes", KIB],
    ["docs/ci.md", /less than (\d+) % of the disk/, "cli/collect/collect.c", ".percent", 1],
    ["docs/ci.md", /after (\d+) days/, "cli/collect/collect.c", ".days", 1],
    ["docs/json.md", /At most (ten), those/, "triage/summary.h", "RCORE_SUMMARY_LINES", 1],
  ].freeze

  module_function

  # Returns what the pages say differently from the source.
  def wrong
    ALL.filter_map do |page, pattern, file, constant, unit|
      said = Pages.flat(page)[pattern, 1] or next "#{page} has nothing like #{pattern.inspect}"
      said = { "two" => 2, "ten" => 10 }[said] || said.delete(",").to_i
      is = value(file, constant)
      "#{page} has #{said} for #{pattern.inspect}, analyzer/#{file} #{is} (#{constant})" unless said * unit == is
    end
  end

  # A constant is "4 << 10" or "2000".
  def value(file, constant)
    text = File.read(File.join(Pages::TOP, "analyzer", file))[/(?<![A-Za-z_>])#{Regexp.escape(constant)} = (\d+u*l*(?: << \d+)?)/, 1] or raise "analyzer/#{file} has no #{constant}"
    left, right = text.delete("ul").split("<<").map { |number| Integer(number.strip) }
    left << right.to_i
  end
end
