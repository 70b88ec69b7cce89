# SPDX-License-Identifier: MIT
require_relative "../support/port"

# A server on a Ruby, in a folder of its own, with a peer and a server of names that never answer.
class Server
  PROGRAMS = File.expand_path("servers", __dir__)
  # As root: an /etc of its own, with the server of names; and /proc, which Sidekiq reads.
  OWN = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" "$1" && mount --bind /proc "$2" && shift 2 && exec "$@"'].freeze
  NAMES = "127.0.53.2"

  def self.open(ruby, kind, *arguments)
    # A server that does not start is closed as well.
    server = KINDS.fetch(kind).allocate
    server.send(:initialize, ruby, *arguments)
    yield server
  ensure
    server&.close
  end

  attr_reader :pid, :peer

  def initialize(ruby)
    @ruby = ruby
    @clients = []
    @started = []
    @folder = Dir.mktmpdir("rcore-scene.", ruby.outside("/tmp"))
    File.chmod(0o777, @folder)
    FileUtils.cp(Dir[File.join(PROGRAMS, "*")], @folder)
    @inside = @folder.delete_prefix(ruby.root)
    @silent = TCPServer.new("127.0.0.1", 0)
    @silent.listen(1024)
    @peer = @silent.local_address.ip_port
    @names = UDPSocket.new
    @names.setsockopt(:SOCKET, :REUSEADDR, true)
    @names.bind(NAMES, 53)
    start
  end

  # What it wrote; of a cluster, what the process with the most requests wrote;
  # "entered" is of all.
  def truth
    told = Dir[File.join(@folder, "truth.*")].grep_v(/new\z/).map { |path| JSON.parse(File.read(path)) }
    return {} if told.empty?
    told.max_by { |truth| truth["entered"] }.merge("entered" => told.sum { |truth| truth["entered"] })
  end

  def log
    File.read(File.join(@folder, "output"))
  end

  def rcore(command, *options)
    output, errors, status = Open3.capture3(*Child::ROOT, RCORE, command, "-p", @pid.to_s, *options)
    raise "rcore #{command}: #{status} #{errors}" unless [0, 1].include?(status.exitstatus)
    output
  end

  # What "rcore waits" prints for the process, and for a pack of it, without
  # their names.
  def waits
    rcore("waits")
  end

  def packed_waits
    pack = File.join(@folder, "pack")
    rcore("pack", "-o", pack)
    output, errors, status = Open3.capture3(*Child::ROOT, RCORE, "waits", pack)
    raise "rcore waits of a pack: #{status} #{errors}" unless [0, 1].include?(status.exitstatus)
    output
  end

  # Kills the server; returns the core that the kernel wrote.
  def core
    system(*Child::ROOT, "prlimit", "--core=unlimited", "--pid", @pid.to_s) or raise "no limit for cores"
    Child.signal(:ABRT, @pid)
    Child.wait(@started.pop)
    @pid = nil
    Dir[File.join(@folder, "core*")].first or raise "no core; see /proc/sys/kernel/core_pattern"
  end

  def close
    Child.signal(:CONT, @pid) if @pid
    @started&.reverse_each { |pid| Child.stop(pid, -pid) }
    @clients&.each(&:close)
    [@silent, @names].compact.each(&:close)
    FileUtils.rm_rf(@folder) if @folder
  end

  private

  # Returns the process that runs Ruby.
  def spawn(*arguments, environment: {})
    etc = File.join(@folder, "etc")
    FileUtils.cp_r(File.join(@ruby.outside("/etc"), "."), etc) unless Dir.exist?(etc)
    FileUtils.rm_f(File.join(etc, "resolv.conf"))
    File.write(File.join(etc, "resolv.conf"), "nameserver #{NAMES}\noptions timeout:30 attempts:5\n")
    command = @ruby.command(arguments, directory: @inside, environment: { "PEER" => @peer, **gem_home, **environment })
    pid = Process.spawn(*Child::ROOT, *OWN, etc, @ruby.outside("/etc"), @ruby.outside("/proc"), *command, in: "/dev/null", %i[out err] => [File.join(@folder, "output"), "a"], pgroup: true)
    @started << pid
    pid
  end

  def wait_for_port(port, process)
    Port.answers?(port, process) or raise "#{self.class} does not answer:\n#{log}"
  end

  # Rubies before 3.2 have the servers in a folder of their own; see scripts/setup.
  GEMS = "/var/lib/rcore-gems"

  def own_gems?
    @ruby.version < Gem::Version.new("3.2")
  end

  def gem_home
    own_gems? ? { "GEM_HOME" => GEMS } : {}
  end

  def gem_program(name)
    File.join(own_gems? ? File.join(GEMS, "bin") : "/usr/local/bin", name)
  end

  # Requests that get no answer.
  module Requests
    def load(path, count)
      count.times do
        client = TCPSocket.new("127.0.0.1", @port)
        client.write("GET /#{path} HTTP/1.1\r\nHost: scene\r\n\r\n")
        @clients << client
      end
    end
  end

  class Puma < Server
    include Requests

    def initialize(ruby, threads, workers = 0, app = "config.ru")
      @threads, @workers, @app = threads, workers, app
      super(ruby)
    end

    def start
      @port = Port.free
      @pid = spawn(gem_program("puma"), "-b", "tcp://127.0.0.1:#{@port}", "-t", "#{@threads}:#{@threads}", "-w", @workers.to_s, "-e", "production", @app)
      wait_for_port(@port, @pid)
    end

    # Of a cluster, the processes as well.
    def rcore(command, *options)
      super(command, *options, *("--children" if @workers.positive?))
    end
  end

  class Rails < Puma
    def initialize(ruby, threads)
      super(ruby, threads, 0, "rails.ru")
    end
  end

  class Falcon < Server
    include Requests

    def start
      @port = Port.free
      @pid = spawn("serve.rb", @port.to_s)
      wait_for_port(@port, @pid)
    end
  end

  class Sidekiq < Server
    def initialize(ruby, threads)
      @threads = threads
      super(ruby)
    end

    def start
      @redis = Port.free
      @started << Process.spawn("redis-server", "--port", @redis.to_s, "--bind", "127.0.0.1", "--save", "", "--dir", @folder, in: "/dev/null", %i[out err] => "/dev/null", pgroup: true)
      wait_for_port(@redis, @started.last)
      @pid = spawn(gem_program("sidekiq"), "-r", "./jobs.rb", "-c", @threads.to_s, "-e", "production", environment: { "REDIS" => @redis })
      Port.wait(@pid) { log.match?(/pool_name.{2,4}"default"/) } or raise "#{self.class} does not start:\n#{log}"
    end

    # As the client of Sidekiq writes jobs.
    def load(name, count)
      redis = TCPSocket.new("127.0.0.1", @redis)
      call(redis, "SADD", "queues", "default")
      count.times do |i|
        job = { class: "SceneJob", args: [name], jid: format("%024x", i), queue: "default", retry: false, created_at: 1.0, enqueued_at: 1.0 }
        call(redis, "LPUSH", "queue:default", JSON.generate(job))
      end
      redis.close
    end

    private

    def call(redis, *words)
      redis.write("*#{words.size}\r\n", *words.map { |word| "$#{word.bytesize}\r\n#{word}\r\n" })
      redis.gets
    end
  end

  KINDS = { puma: Puma, rails: Rails, falcon: Falcon, sidekiq: Sidekiq }.freeze
end
