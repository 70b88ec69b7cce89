# SPDX-License-Identifier: MIT
require_relative "generator"

# What is stopped: a folder's files, and the arguments with which Ruby runs them.
class Program
  attr_reader :name, :arguments

  def initialize(name, arguments, files: {}, copies: {})
    @name, @arguments, @files, @copies = name, arguments, files, copies
  end

  def write(folder)
    @files.each { |name, text| File.write(File.join(folder, name), text) }
    @copies.each { |name, source| FileUtils.cp_r(source, File.join(folder, name)) }
  end

  # A program of the generator's, by its seed.
  def self.generated(seed, ruby)
    new("seed #{seed}", ["main.rb"], files: Generator.new(seed, ruby.version).files)
  end

  # Programs that come with Ruby, at work on Ruby's own library.
  LIBRARY = {
    "rdoc" => ["-rrdoc", "-e", "Dir.chdir(RbConfig::CONFIG['rubylibdir']); " \
               "loop { RDoc::RDoc.new.document(['-q', '-o', File.join(ENV['TMPDIR'], \"d\#{rand(1 << 40)}\"), *Dir['o*.rb']]) }"],
    "ripper" => ["-rripper", "-rpp", "-e", "Dir[RbConfig::CONFIG['rubylibdir'] + '/*.rb'].cycle { |f| PP.pp(Ripper.sexp(File.read(f)), +'') }"],
    "irb" => ["-rirb", "-rstringio", "-e", "loop { $stdin = StringIO.new(\"1.then { |x| [x].map { |y| y + 1 } }\\nclass A; def b = [1].sort_by(&:to_s); end\\nA.new.b\\n\" * 50); " \
              "IRB.setup(nil, argv: %w[-f --noecho]); IRB::Irb.new(nil, IRB::StdioInputMethod.new).eval_input rescue 0 }"],
    "json" => ["-rjson", "-ryaml", "-e", "data = (1..50).map { |i| { i.to_s => [i, { 'x' => nil }] } }; loop { YAML.load(YAML.dump(JSON.parse(JSON.pretty_generate(data)))) }"],
    "csv" => ["-rset", "-rtsort", "-rprime", "-rmatrix", "-e",
              "loop { Prime.first(200).sum; Matrix.build(6) { |a, b| a * b + 1 }.lup; { 1 => [2], 2 => [3], 3 => [] }.then { |h| TSort.tsort(->(&b) { h.each_key(&b) }, ->(n, &b) { h[n].each(&b) }) } }"],
    "optparse" => ["-roptparse", "-rlogger", "-rstringio", "-rtime", "-e",
                   "loop { OptionParser.new { |o| o.on('-a', '--all N', Integer) { |n| Logger.new(StringIO.new).info { Time.parse('2020-01-02').iso8601 } } }.parse(%w[-a 3 --all=4 rest]) }"],
    "drb" => ["-rdrb", "-e", "class F; def call(n) yield n; end; end; s = DRb.start_service('druby://127.0.0.1:0', F.new); o = DRbObject.new_with_uri(s.uri); loop { o.call(1) { |x| [x].map { |y| y + 1 }.first } }"],
    "http" => ["-rsocket", "-rnet/http", "-e", "s = TCPServer.new('127.0.0.1', 0); Thread.new { loop { Thread.new(s.accept) { |c| nil while c.gets != \"\\r\\n\"; c.write(\"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok\"); c.close } } }; " \
               "4.times.map { Thread.new { loop { Net::HTTP.get(URI(\"http://127.0.0.1:\#{s.addr[1]}/\")) } } }.each(&:join)"],
    "rexml" => ["-rrexml/document", "-e", "x = '<a>' + (1..50).map { |i| \"<b n='\#{i}'>t</b>\" }.join + '</a>'; loop { REXML::XPath.match(REXML::Document.new(x), '//b[@n>10]').size }"],
    "resolv" => ["-rrubygems", "-e", "loop { Gem::Resolver.new([Gem::Dependency.new('rake', '>= 0')], Gem::Resolver::InstallerSet.new(:local)).resolve rescue Gem::Specification.each { |s| s.full_name } }"],
    "minitest" => ["-e", "require 'test/unit'; class T < Test::Unit::TestCase; 200.times { |i| define_method(:\"test_\#{i}\") { assert_equal(1, [1].map { |x| x }.first); assert_raise(RuntimeError) { raise 'x' } } }; end"],
  }.freeze

  # Files beside this one.
  OWN = %w[hooks fibers].freeze

  # Run only at length, or if --only names them: one stop in some 1,500 shows what is not explained yet. Ruby 3.4 said
  # once that a fiber which waits in Enumerator#next has no frames.
  ONLY_AT_LENGTH = %w[fibers].freeze

  # Of tests/packages/gems, from Ruby 3.2 on.
  GEMS = {
    "async" => ["-e", "require 'async'; require 'async/semaphore'; Async { |t| 20.times { |i| t.async { |s| loop { s.sleep(rand * 0.01); Async::Semaphore.new(2).async { [i].map { |x| x + 1 } }.wait } } } }"],
    "async-http" => ["-e", "require 'async'; require 'async/http'; require 'async/http/endpoint'; require 'async/http/server'; require 'async/http/client'; " \
                     "Async { |t| e = Async::HTTP::Endpoint.parse('http://127.0.0.1:' + ENV['PORT'].to_s); t.async { Async::HTTP::Server.for(e) { |r| Protocol::HTTP::Response[200, {}, ['hi']] }.run }; " \
                     "sleep 0.2; 4.times { t.async { Async::HTTP::Client.open(e) { |c| loop { c.get('/').read } } } } }"],
    "rack" => ["-e", "require 'rack'; a = Rack::Builder.new { use Rack::Runtime; use Rack::ETag; use Rack::Head; run ->(e) { [200, { 'content-type' => 'text/plain' }, [Rack::Request.new(e).params.inspect]] } }.to_app; " \
               "loop { Rack::MockRequest.new(a).get('/x?a[]=1&b[c]=2').body }"],
  }.freeze

  def self.library(name)
    return new(name, ["#{name}.rb"], copies: { "#{name}.rb" => File.join(__dir__, "#{name}.rb") }) if OWN.include?(name)
    new(name, (LIBRARY[name] || GEMS.fetch(name)).map { |text| text.gsub("\\\#{", "\#{") })
  end

  # Files of a CRuby source tree that the user names: its tests, its benchmarks.
  def self.tree(folder)
    tests = Dir[File.join(folder, "test/{ruby,json,psych,erb,optparse,set,monitor,fiber,digest,rexml}/**/test_*.rb")].reject { |path| path =~ NOT_HERE }
    boot = Dir[File.join(folder, "bootstraptest/test_*.rb")].reject { |path| path =~ NOT_HERE }
    bench = Dir[File.join(folder, "benchmark/*.{rb,yml}")]
    shim = { "tree.rb" => File.join(__dir__, "tree.rb") }
    needed = { "tool" => File.join(folder, "tool"), "test" => File.join(folder, "test") }
    of = ->(kind, paths, more) do
      paths.map { |path| new("#{kind} #{File.basename(path)}", ["tree.rb", kind, path.delete_prefix(folder + "/")], copies: shim.merge(more)) }
    end
    of["test", tests, needed] + of["boot", boot, "bootstraptest" => File.join(folder, "bootstraptest")] +
      of["bench", bench, "benchmark" => File.join(folder, "benchmark")]
  end

  # What kills or stops its own process group, or only starts others.
  NOT_HERE = /test_(?:process|signal|rubyoptions|rubyvm_mjit|bug_reporter|vm_dump|gc_compact|jit\w*|yjit\w*|rjit|mjit\w*)\.rb\z/.freeze
end
