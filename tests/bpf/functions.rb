# SPDX-License-Identifier: MIT

# `rcore record --event uprobe:FILE:FUNCTION` counts each call of a function for its request.
module Functions
  COUNT = 2000
  CALLED = %w[crc32 adler32].freeze

  def self.cases(workshops)
    workshops.map { |ruby, workshop| BpfCase.new("functions #{ruby.name}") { Functions.compare(self, ruby, workshop) } } +
      [BpfCase.new("functions refused") { Functions.refused(self, workshops.keys.find { |ruby| ruby.root.empty? }) }]
  end

  def self.compare(test, ruby, workshop)
    seed = Random.new_seed % 2**31
    # Later releases call crc32_z() and adler32_z().
    suffix = ruby.version < Gem::Version.new("3.2") ? "" : "_z"
    [[], ["--native"]].each do |options|
      recorder = nil
      path, log = %w[functions.rec functions.log].map { |name| File.join(test.folder, name) }
      FileUtils.rm_f(path)
      truth = test.truth_of(ruby, workshop, "functions.rb", seed, COUNT, 3) do |pid|
        # One of the two libraries is named by its path in the process.
        library = File.readlines("/proc/#{pid}/maps").grep(%r{(/\S*/libz\.so\.1\S*)}) { $1 }.first
        events = [File.basename(library), library].zip(CALLED).flat_map { |file, function| ["-e", "uprobe:#{file}:#{function}#{suffix}"] }
        recorder = Process.spawn(*BpfCase::ROOT, Suite::RCORE, "record", *events, *options, "-p", pid.to_s, "-o", path, *ruby.files, %i[out err] => log, pgroup: true)
        test.wait_until("recording: #{File.read(log)}") { File.exist?(path) || Process.wait(recorder, Process::WNOHANG) }
      end
      test.same("status of rcore: #{File.read(log)}", true, Child.wait(recorder).success?)
      recorder = nil
      test.fail("rcore: #{File.read(log)}") unless File.read(log) =~ /\Arcore: in .* \d+ calls; 0 records were lost[,;]/
      check(test, Record.read(path), truth, suffix, "seed #{seed} #{options.join}")
    ensure
      Child.stop(recorder, -recorder) if recorder
    end
  end

  # truth: {request => {function => calls}}.
  def self.check(test, recording, truth, suffix, what)
    found = Hash.new { |all, request| all[request] = Hash.new(0) }
    recording.totals.each do |total|
      stack = recording.stack(total)
      next unless stack.any? { |frame| frame =~ /\bpiece\z/ }
      function = stack.last.delete_suffix(suffix)
      test.fail("#{what}: the stack ends with #{stack.last(3)}") unless CALLED.include?(function)
      test.fail("#{what}: bytes") unless total["wall"].zero?
      found[total.fetch("labels", {})["request_id"]][function] += total["samples"]
    end
    test.same(what, truth, found)
    test.note = "#{truth.values.sum { |calls| calls.values.sum }} calls, #{truth.size} requests"
  end

  def self.refused(test, ruby)
    Record.with_busy(ruby.program) do |pid|
      { "uprobe:libc.so.6:no_such_function" => "no library or program '", "uprobe:no_such_library.so:free" => "no library or program 'no_such_library.so' has a function 'free'",
        "uprobe:libc.so.6:strlen" => "one of the ifunc kind" }.each do |event, words|
        out, err, status = Open3.capture3(*BpfCase::ROOT, Suite::RCORE, "record", "-p", pid.to_s, "-d", "1", "-e", event)
        test.same("#{event}: status", 2, status.exitstatus)
        test.same("#{event}: output", "", out)
        test.fail("#{event}: #{err.inspect}") unless err.lines.size == 1 && err.include?(words)
      end
    end
  end
end
