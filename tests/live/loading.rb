# SPDX-License-Identifier: MIT
# Threads that wait for a file that another thread loads: by require, and by the use of a constant. The file "truth" has, for
# each, the thread that loads the file.
require "json"
require_relative "counting"

TRUTH = {}
several = ARGV[0] == "several"
Dir.mkdir("files")
# A file says which thread loads it, and never ends.
%w[required constant other].each { |name| File.write("files/#{name}.rb", "TRUTH[#{name.inspect}] = Thread.current.name\nsleep\n") }
$LOAD_PATH.unshift(File.expand_path("files"))
autoload :Constant, "constant"

def thread(name)
  Thread.new do
    Thread.current.name = name
    yield
  end
end

def loads(file, name, &block)
  thread(name, &block).tap { sleep 0.01 until TRUTH[file] }
end

class Shop
  def rate
    Constant
  end

  def name
    Object.const_get(:Constant)
  end
end

threads = [loads("constant", "loads the constant") { Constant }]
threads << loads("required", "requires") { require "required" } << loads("other", "requires another") { require "other" } if several
threads << thread("uses") { Shop.new.rate } << thread("gets") { Shop.new.name }
threads += [thread("waits to require") { require "required" }, thread("waits to require it, too") { require_relative "files/required" }] if several
quiet = 0
until quiet == 20
  sleep 0.01
  quiet = threads.all?(&:stop?) ? quiet + 1 : 0
end
File.write("truth", JSON.generate(TRUTH))
File.write("pid", Process.pid)
count_forever
