# SPDX-License-Identifier: MIT
require "fileutils"
require "json"
require "open3"
require_relative "../support/child"
require_relative "../support/port"

# A database that a test starts in its folder as an ordinary user. Only this machine can reach it.
class Engine
  TOP = File.expand_path("../..", __dir__)
  NOBODY = 65_534

  class Failed < StandardError; end

  def initialize(folder)
    @folder = File.join(folder, name)
    Dir.mkdir(@folder)
    @examples = File.join(TOP, "examples/fleet", name)
    File.chown(NOBODY, NOBODY, @folder) if Process.uid.zero?
  end

  def start
    @pid = Process.spawn(*as_nobody(*server), chdir: @folder, in: "/dev/null", %i[out err] => File.join(@folder, "output"))
    Timeout.timeout(Child::LIMIT) { wait_until_ready }
    self
  rescue Timeout::Error
    raise Failed, "#{name} does not answer: #{output}"
  end

  # Lets it end by itself, because a killed PostgreSQL leaves a segment of
  # shared memory.
  def stop
    return unless @pid
    Child.signal(:INT, @pid)
    Child.wait(@pid, 60)
  rescue Errno::ECHILD
    nil # it has ended by itself
  end

  def tables = client(File.read(file("tables.sql")))

  # The rows of one of the six queries, as arrays of texts.
  def rows(query) = client(File.read(file("#{query}.sql"))).lines.map { |line| line.chomp.split("\t", -1) }

  def count = Integer(client("SELECT count(*) FROM #{self.class::ALL};"))

  private

  def wait_until_ready
    until ready?
      raise Failed, "#{name} ended: #{output}" if Process.wait(@pid, Process::WNOHANG)
      sleep 0.1
    end
  end

  def file(name) = File.join(@examples, name)

  def output = File.read(File.join(@folder, "output"))

  def as_nobody(*command)
    Process.uid.zero? ? ["setpriv", "--reuid=#{NOBODY}", "--regid=#{NOBODY}", "--clear-groups", *command] : command
  end

  def run(*command, input: "")
    out, err, status = Open3.capture3(*command, stdin_data: input)
    raise Failed, "#{command.first}: #{status} #{err[0, 2000]}" unless status.success?
    out
  end
end

# Debian's release has no `clickhouse local`, so a server listens on a port of 127.0.0.1.
class ClickHouse < Engine
  ALL = "rcore_crashes FINAL".freeze

  # Debian 12 has it, Debian 13 may not.
  def self.here? = File.executable?("/usr/sbin/clickhouse-server")

  def name = "clickhouse"

  # Another program may take the port before the server does.
  def start
    attempts ||= 0
    super
  rescue Failed => error
    (attempts += 1) < 3 && error.message.include?("ended") ? retry : raise
  end

  def server
    @port = Port.free
    users = "<profiles><default/></profiles><quotas><default/></quotas><users><default><password/>" \
            "<networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users>"
    File.write(File.join(@folder, "users.xml"), "<yandex>#{users}</yandex>")
    File.write(File.join(@folder, "config.xml"), <<~XML)
      <yandex>
        <logger><level>error</level><console>1</console></logger>
        <listen_host>127.0.0.1</listen_host><tcp_port>#{@port}</tcp_port>
        <path>#{@folder}/data/</path><tmp_path>#{@folder}/tmp/</tmp_path>
        <mark_cache_size>5000000</mark_cache_size><users_config>users.xml</users_config>
        <default_profile>default</default_profile><default_database>default</default_database>
      </yandex>
    XML
    ["/usr/sbin/clickhouse-server", "--config-file=#{@folder}/config.xml"]
  end

  def options = ["--host", "127.0.0.1", "--port", @port.to_s]

  def ready? = system("clickhouse-client", *options, "--query", "SELECT 1", in: "/dev/null", %i[out err] => "/dev/null")

  def client(text) = run("clickhouse-client", *options, "--multiquery", input: text)

  def import(lines) = run(file("import"), *options, input: lines)
end

class PostgreSQL < Engine
  ALL = "rcore_crashes".freeze
  PROGRAMS = Dir["/usr/lib/postgresql/*/bin"].max_by { |path| path[/\d+/].to_i }.to_s

  def name = "postgresql"

  def server
    initialize_cluster = [File.join(PROGRAMS, "initdb"), "-D", File.join(@folder, "data"), "-U", "rcore", "-A", "trust", "--no-sync", "--locale=C.UTF-8"]
    run(*as_nobody(*initialize_cluster))
    # No TCP: only a socket in this folder.
    [File.join(PROGRAMS, "postgres"), "-D", File.join(@folder, "data"), "-k", @folder, "-c", "listen_addresses=", "-c", "fsync=off"]
  end

  def options = ["-X", "-q", "-h", @folder, "-U", "rcore", "-d", "postgres", "-v", "ON_ERROR_STOP=1"]

  def ready? = system("psql", *options, "-c", "SELECT 1", in: "/dev/null", %i[out err] => "/dev/null")

  def client(text) = run("psql", *options, "-A", "-t", "-F", "\t", input: text)

  def import(lines) = run("psql", *options, "-f", file("import.sql"), input: lines)
end
