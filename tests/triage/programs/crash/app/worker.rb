# SPDX-License-Identifier: MIT
require_relative "../gems/errand-1.2.3/lib/errand"

# A way to the crash through a recursion, a gem, blocks, a template and a string that is evaluated.
class Worker
  # Named as ActionView names what it makes from a template.
  GENERATED = "_app_views_show_html_erb___#{Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)}_#{Process.pid}"
  TEMPLATE = "<% send(GENERATED) %>"

  class_eval("def #{GENERATED}; perform; end", "app/views/show.html.erb", 1)

  def initialize(task)
    @task = task
  end

  def run(depth)
    [1].each { |_| descend(depth) }
  end

  def descend(depth)
    return descend(depth - 1) if depth > 0
    Errand.go { render }
  end

  def render
    ERB.new(TEMPLATE).result(binding)
  end

  def perform
    instance_eval("finish")
  end

  def finish
    @task.call
  end
end
