# SPDX-License-Identifier: MIT

# What threads work on, as they say themselves, with frameworks that come with Ruby and recognizers of the user's own.
module Works
  OWN = {recognizers: [{name: "Importer", kind: "import", methods: ["Importer#run"], take: "innermost", requires: ["tenant"],
                        fields: {tenant: ["self.@nothing", "self.@options.tenant"], first: "self.@options.rows[:list][1]", depth: "depth"}}]}.freeze

  def self.cases(rubies)
    rubies.map { |ruby| LiveCase.new("works #{ruby.name}") { Works.at_work(self, ruby) } }
  end

  def self.at_work(test, ruby)
    test.with_program(ruby, "at_work.rb") do |pid, counter, folder|
      own = File.join(folder, "recognizers.json")
      File.write(own, JSON.generate(OWN))
      truth = JSON.parse(File.read(File.join(folder, "truth")))
      report, status = test.report("-p", pid, "--recognizers", own)
      test.same("status", 0, status)
      test.same("works", truth, found(report, truth))
      report, = test.report("-p", pid)
      test.same("works without own recognizers", truth.merge("importer" => {}), found(report, truth))
      redacted, = test.report("-p", pid, "--redact", "strings")
      texts = redacted["fibers"].flat_map { |fiber| fiber["works_on"].to_a }.flat_map { |work| work["fields"] }.map { |field| field["text"] }
      test.same("texts that are not hidden", %w[OrderTest], texts.grep_v(/\A("(\*+|\[redacted\])"|\d+)\z/).uniq)
      each_command(test, pid, own, folder)
      test.same("hidden texts", truth.sum { |_, works| works.except("Importer").sum { |_, fields| fields.size } }, texts.size)
      select(test, pid, truth)
      refuse(test, pid, folder)
      test.goes_on(counter)
    end
  end

  # By the names of threads: recognizer => fields.
  def self.found(report, truth)
    fibers = report["fibers"].to_h { |fiber| [fiber["id"], fiber] }
    report["threads"].select { |thread| truth.key?(thread["name"]) }.to_h do |thread|
      works = fibers[thread["current_fiber"]]["works_on"].to_a
      [thread["name"], works.to_h { |work| [work["recognizer"], work["fields"].to_h { |field| [field["name"], field["text"]] }] }]
    end
  end

  def self.select(test, pid, truth)
    task = truth.dig("rake", "Rake", "task").delete('"')
    report, = test.report("-p", pid, "--where", "task=#{task}")
    test.same("--where", ["rake"], report["threads"].map { |thread| thread["name"] })
    out, = test.rcore("-p", pid)
    line = %(          task task="#{task}"  (Rake, Rake::Task#execute)\n)
    test.fail("no #{line.inspect} in:\n#{out}") unless out.include?(line)
    outer = out.index('task task="outer"')
    inner = outer && out.index('test test_class=OrderTest test="test_slow"', outer)
    test.fail("not the outermost first:\n#{out}") unless inner && inner < out.index(/^ +\d+ /, outer)
  end

  # A command that has the option prints what its entries find, or writes a pack with which `rcore analyze` does.
  def self.each_command(test, pid, own, folder)
    names = words.grep(/\A[a-z]/) - %w[help record]
    commands = names.flat_map { |name| [[name]] + words(name).grep(/\A[a-z]+\z/).map { |sub| [name, sub] } }
    commands.select! { |command| words(*command, "--").include?("--recognizers") }
    test.fail("--recognizers is missing: #{commands}") unless [["analyze"], ["pack"]].all? { |command| commands.include?(command) }
    commands.each do |command|
      pack = File.join(folder, "works.core") if command == ["pack"]
      more = pack ? ["-o", pack] : words(*command, "--").include?("--thread") ? %w[--thread importer] : []
      out, err, = Open3.capture3(*LiveCase::ROOT, Suite::RCORE, *command, "-p", pid.to_s, "--recognizers", own, *more)
      out, err, = test.rcore(pack, "--recognizers", own) if pack
      test.fail("#{command.join(" ")} does not print the work of --recognizers: #{out}#{err}") unless out.include?("Importer#run") && out.match?(/tenant=/)
    end
  end

  # What `rcore complete` offers after these words.
  def self.words(*before)
    last = before.last.to_s.start_with?("-") ? before.pop : ""
    IO.popen([Suite::RCORE, "complete", *before, last], &:readlines).map { |line| line.chomp.split("\t").first }
  end

  def self.refuse(test, pid, folder)
    bad = File.join(folder, "bad.json")
    {"{" => "not JSON", "{}" => 'no array "recognizers"'}.each do |text, says|
      File.write(bad, text)
      out, err, status = test.rcore("-p", pid, "--recognizers", bad)
      test.same("#{text}: output, status", ["", 2], [out, status])
      test.fail("#{text}: #{err}") unless err.lines.size == 1 && err.include?(bad) && err.include?(says)
    end
    _, err, = test.rcore("-p", pid, "--recognizers", folder)
    test.fail("a folder: #{err}") unless err.lines.size == 1 && err.include?(folder) && err.include?("not a plain file")
  end
end
