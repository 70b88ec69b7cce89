# SPDX-License-Identifier: MIT

# rcore bpf-params agrees with the symbols, if a Ruby has them, and prints the
# same in each format.
module Params
  USAGE = 64
  SCHEMA = File.join(BpfCase::TOP, "docs/rcore-bpf-params-1.schema.json")
  VALIDATE = <<~'PYTHON'
    import json, sys, jsonschema
    jsonschema.Draft202012Validator(json.load(open(sys.argv[1]))).validate(json.load(sys.stdin))
  PYTHON

  def self.cases(workshops)
    workshops.map { |ruby, workshop| BpfCase.new("params #{ruby.name}", needs_bpf: false) { Params.compare(self, ruby, workshop) } } +
      [BpfCase.new("params dlopened", needs_bpf: false) { Params.dlopened(self) }]
  end

  CODE = "40.times { Thread.new { loop { Fiber.new { 1 }.resume } } }; $stdout.puts :request_id; $stdout.flush; sleep".freeze

  # A libruby that was loaded later. Most of its threads have not run yet.
  def self.dlopened(test)
    program = File.join(test.folder, "dlopened")
    libruby = File.read("/proc/self/maps")[%r{/\S*/libruby\S*$}]
    system("gcc", "-w", File.join(BpfCase::PROGRAMS, "dlopened.c"), "-o", program, "-ldl") or return test.fail("gcc failed")
    reader, writer = IO.pipe
    pid = Process.spawn(program, libruby, CODE, out: writer)
    writer.close
    test.same("sign of life", "request_id\n", Timeout.timeout(LiveCase::TIMEOUT) { reader.gets })
    json = JSON.parse(test.params(pid, "--json", "--key", "request_id"))
    test.same("place of the execution context", "module", json["ec"]["place"])
    places(test, pid, json)
  ensure
    Child.stop(pid) if pid
  end

  def self.compare(test, ruby, workshop)
    test.truth_of(ruby, workshop, "calls.rb", 1, 20, 2) do |pid|
      json = JSON.parse(test.params(pid, "--json", "--key", "request_id", "--key", "+"))
      binary = test.params(pid, "--binary", "--key", "request_id", "--key", "+")
      text = test.params(pid, "--key", "request_id")
      errors, status = Open3.capture2e("python3", "-c", VALIDATE, SCHEMA, stdin_data: JSON.generate(json))
      test.fail("not what the schema says: #{errors}") unless status.success?
      test.same("schema", "rcore-bpf-params/1", json["schema"])
      test.same("pid", pid, json["pid"])
      test.same("keys", %w[request_id +], json["keys"].map { |key| key["name"] })
      version, count, id, namespace, *keys = binary.unpack("L4Q8")
      test.same("version", [2, 2], [version, count])
      test.same("process id and its namespace", [pid, File.stat("/proc/self/ns/pid").ino], [id, namespace])
      test.same("namespace", namespace, json["pid_namespace"])
      test.fail("the text has other ids: #{text}") unless text =~ /^pid +#{pid}\npid_namespace +#{namespace}$/
      test.same("IDs", json["keys"].map { |key| key["id"].hex } + [0] * 6, keys)
      test.same("ID of +", "+".ord, keys[1])
      test.fail("the text says another ID: #{text}") unless text =~ /^keys\[0\] +0x#{keys[0].to_s(16)}  request_id$/
      places(test, pid, json)
      refused(test, pid)
    end
  end

  # The offsets of symbols of thread-local variables, in the files that the process has mapped. The block of a libruby that was there
  # at the start is the first one below the thread pointer.
  def self.places(test, pid, json)
    files = File.readlines("/proc/#{pid}/maps").filter_map { |line| line[%r{ (/\S*(?:ruby|profiler)\S*)$}, 1] }.uniq
    # Of a process in another root folder, the paths are those outside of it.
    files.map! { |file| File.exist?(file) ? file : "/proc/#{pid}/root#{file}" }
    wanted = ->(value) { ["module", value] }
    if json["ec"]["place"] == "thread"
      library = files.find { |file| file.include?("libruby") }
      size, align = IO.popen(["readelf", "-lW", library], &:read)[/^ +TLS .* (0x\h+ +R +0x\h+)$/, 1].split(/ +R +/).map(&:hex)
      wanted = ->(value) { ["thread", value - (size + align - 1) / align * align] }
    end
    symbols = files.flat_map do |file|
      IO.popen(["readelf", "--dyn-syms", "-W", file], err: File::NULL, &:read).scan(/^ +\d+: (\h+) +\d+ (TLS|OBJECT) +\S+ +\S+ +\d+ (ruby_\w+)/)
    end
    symbols.each do |value, type, name|
      case name
      when "ruby_current_ec" then test.same(name, wanted[value.hex], json["ec"].values_at("place", "offset"))
      when "ruby_profiler_state" then test.same(name, ["module", value.hex], json["state"].values_at("place", "offset"))
      when "ruby_current_execution_context_ptr" then test.same("place of the execution context", "address", json["ec"]["place"]) if type == "OBJECT"
      end
    end
  end

  def self.refused(test, pid)
    {
      ["--key", "no_such_key"] => [2, /no Symbol :no_such_key/],
      ["--json", "--binary"] => [USAGE, /cannot be used together/],
      ["--children", "--binary"] => [USAGE, /'--binary' cannot be used with --children/],
      ["--key", "request_id"] * 9 => [USAGE, /9 keys; at most 8 are possible/],
    }.each do |arguments, (wanted, line)|
      out, err, status = Open3.capture3(*LiveCase::ROOT, Suite::RCORE, "bpf-params", "-p", pid.to_s, *arguments.flatten)
      test.same("status of #{arguments}", wanted, status.exitstatus)
      test.fail("#{err.inspect} is no single line that says #{line.inspect}") unless err =~ line && err.lines.size == 1
      test.same("output", "", out)
    end
  end
end
