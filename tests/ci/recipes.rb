#!/usr/bin/ruby
# SPDX-License-Identifier: MIT
#
# Runs action.yml and the GitLab snippet of docs/ci.md as their runners do: the
# scripts of the steps in order, with the inputs filled in, in a job in which
# two Rubies crash. The machine's core_pattern is only read.
#
#	tests/ci/recipes.rb
require "etc"
require "fileutils"
require "json"
require "open3"
require "tmpdir"
require "yaml"

TOP = File.expand_path("../..", __dir__)
JOB = <<~RUBY
  def step0 = Process.kill(:ABRT, Process.pid) && sleep
  #{(1..14).map { |n| "def step#{n} = [1].each { step#{n - 1} }" }.join("\n  ")}
  step14
RUBY
COMMAND = 'id -u >user; ./crash || true; ./crash "second one"'
# Runs a command with a file of the folder `work` mounted over core_pattern.
OVER_PATTERN = '. "$0/tests/ci/core_pattern.sh"; with_own_pattern "|/bin/false" "$@"'

def check(what, fine, more = nil)
  fine or abort "#{what}#{": #{more}" if more}"
end

# A job's folder. Its sudo does not change the user, but sets PATH and drops the
# environment, as sudo does by default. The first Ruby in PATH records that it
# was run, like that of setup-ruby.
def in_job
  Dir.mktmpdir("rcore-recipes.") do |folder|
    %w[lib bin chosen].each { |name| FileUtils.mkdir_p(File.join(folder, name)) }
    File.write(File.join(folder, "lib/job.rb"), JOB)
    script(folder, "bin/sudo", <<~SH)
      echo "$*" >>'#{folder}/sudo.log'
      [ "$1" != -n ] || shift
      [ "$1" != --preserve-env ] || { shift && exec env PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root SUDO_UID=0 "$@"; }
      exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root SUDO_UID=0 "$@"
    SH
    script(folder, "chosen/ruby", <<~SH)
      echo "${SUDO_UID:+under sudo}" >>'#{folder}/chosen.log'
      exec '#{RbConfig.ruby}' "$@"
    SH
    # The kernel follows the machine's setting and leaves the core here. This
    # moves it to where ci/run's setting says.
    script(folder, "crash", <<~'SH')
      status=0
      ruby lib/job.rb "$@" || status=$?
      mv core* "$(sed "s/%p/$$/" /proc/sys/kernel/core_pattern)"
      exit $status
    SH
    File.symlink(TOP, File.join(folder, "rcore"))
    yield folder, { "PATH" => "#{folder}/chosen:#{Process.uid.zero? ? "#{folder}/bin:" : ''}#{ENV['PATH']}" }
  end
end

def script(folder, name, text)
  path = File.join(folder, name)
  File.write(path, "#!/bin/sh\n#{text}")
  File.chmod(0o755, path)
end

# setup-ruby's Ruby ran each script of the job, as the job's user.
def check_user(folder)
  check("the job's Ruby", File.read(File.join(folder, "chosen.log")) == "\n\n", Dir.children(folder))
  check("the job's user", File.read(File.join(folder, "user")).to_i == Process.uid)
end

# With the options that the runner has for "shell: bash".
def run(script, environment, folder)
  over = ["bash", "-c", OVER_PATTERN, TOP]
  Open3.capture2e(environment.merge("work" => folder), *over, "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script, chdir: folder, unsetenv_others: false)
end

def fill(text, inputs)
  text.gsub(/\$\{\{ inputs\.(\w+) \}\}/) { inputs.fetch($1) }
end

# The Action builds rcore, or takes a prepared one.
def action(given = {})
  yaml = YAML.load_file(File.join(TOP, "action.yml"))
  inputs = yaml["inputs"].transform_values { |input| input["default"] }.merge("run" => COMMAND, **given)
  in_job do |folder, environment|
    summary = File.join(folder, "summary")
    FileUtils.touch(summary)
    path = given.empty? ? TOP : clone(folder)
    github = environment.merge("GITHUB_ACTIONS" => "true", "GITHUB_ACTION_PATH" => path, "GITHUB_STEP_SUMMARY" => summary)
    log = nil
    yaml["runs"]["steps"].each do |step|
      check("a step's shell", step["shell"] == "bash")
      own = (step["env"] || {}).transform_values { |value| fill(value, inputs) }
      log, status = run(fill(step["run"], inputs), github.merge(own), folder)
      wanted = step["name"] == "Run" ? 134 : 0
      check("step #{step['name']}", status.exitstatus == wanted, "#{status}: #{log}")
    end
    check_user(folder)
    annotations = log.lines.grep(/^::(error|notice) /)
    check("annotations", annotations.size == 10 && annotations.any? { |line| line.start_with?("::error file=lib/job.rb,line=1,") }, annotations.inspect)
    text = File.read(summary)
    check("summary", text.size < 1 << 20 && text.scan("Blame: Object#step0  lib/job.rb:1").size == 2, text)
    reports(File.join(folder, fill(yaml["outputs"]["reports"]["value"], inputs)))
  end
end

# What the Action needs of a clone that was not built.
def clone(folder)
  File.join(folder, "clone").tap do |path|
    FileUtils.mkdir_p(path)
    FileUtils.cp_r(File.join(TOP, "ci"), path)
  end
end

def refuse
  in_job do |folder, environment|
    get = File.join(clone(folder), "ci/get")
    binary = File.realpath(ENV.fetch("RCORE"))
    File.binwrite("#{folder}/foreign", "\x7fELF")
    { ["#{folder}/none"] => "cannot be read", [binary, "0" * 64] => "its SHA-256 is", ["#{folder}/foreign"] => "does not run", ["http://127.0.0.1:1/rcore"] => "needs the SHA-256" }.each do |arguments, wanted|
      log, status = Open3.capture2e(environment, get, *arguments)
      check("ci/get #{arguments.join(" ")}", !status.success? && log.include?(wanted), log)
      check("ci/get left a file", Dir[File.join(folder, "clone/build/*")].empty?)
    end
  end
end

# It installs what is missing before it compiles with all processors.
def build
  in_job do |folder, environment|
    script(folder, "chosen/make", %(echo "$*" >>'#{folder}/made'))
    log, status = Open3.capture2e(environment, File.join(clone(folder), "ci/get"))
    made = File.readlines(File.join(folder, "made"), chomp: true).map { |line| line.sub(/^-C \S+ /, "") }
    check("ci/get", status.success? && made == ["setup", "-j#{Etc.nprocessors} all"], [made, log].inspect)
  end
end

def gitlab
  snippet = File.read(File.join(TOP, "docs/ci.md"))[/^## GitLab\n.*?```yaml\n(.*?)```/m, 1]
  job = YAML.safe_load(snippet)["test"]
  in_job do |folder, environment|
    environment["RCORE"] = nil
    job["before_script"].each { |script| (log, status = run(script, environment, folder)) && check(script, status.success?, log) }
    script = job["script"].map { |line| line.sub("bundle exec rake test", "bash -c '#{COMMAND}'") }.join("\n")
    log, status = run(script, environment, folder)
    check("the script", status.exitstatus == 134, "#{status}: #{log}")
    check_user(folder)
    artifacts = job["artifacts"]
    check("artifacts", artifacts["paths"].all? { |path| File.directory?(File.join(folder, path)) })
    artifacts["reports"].each { |kind, glob| check("#{kind}: #{glob}", Dir[File.join(folder, glob)].size >= 2) }
    reports(File.join(folder, artifacts["paths"][0]))
  end
end

def reports(folder)
  wanted = [1, 2].flat_map { |n| %w[html txt json md sarif xml].map { |ending| "crash-#{n}.#{ending}" } + ["gitlab-#{n}.json"] }
  check("reports", (wanted - Dir.children(folder)).empty?, Dir.children(folder).inspect)
  # If cores of the whole machine are caught, there may be others.
  places = Dir[File.join(folder, "gitlab-*.json")].map { |path| JSON.parse(File.read(path)).dig(0, "location", "path") }
  check("GitLab's path", places.count("lib/job.rb") == 2, places)
end

if system({ "work" => "/nonexistent" }, "bash", "-c", '. "$0/tests/ci/core_pattern.sh"; has_namespaces && has_cores', TOP)
  action
  action("binary" => File.realpath(ENV.fetch("RCORE")))
  refuse
  build
  gitlab
else
  puts "no mount namespaces here, or the kernel's cores go elsewhere: the recipes for CI are not tested"
end
