# SPDX-License-Identifier: MIT

# The task tree of the gem async.
class CompareTasks
  Compare::MORE << self

  def initialize(truth, report)
    @told, @report = truth["tasks"], report
    @differences = []
  end

  def run
    return @differences unless @told
    tasks, fibers = @report["tasks"].to_a, @report["fibers"].to_h { |fiber| [fiber["id"], fiber["object"]] }
    reported = tasks.to_h do |task|
      [task["object"], task.slice("class", "object", "annotation", "status").merge(
        "parent" => task["parent"] && tasks[task["parent"]]["object"], "fiber" => fibers[task["fiber"]],
        "transient" => !!task["transient"], "problem" => task["problem"]
      ).compact]
    end
    told = @told.to_h { |task| [task["object"], task.compact] }
    (told.keys | reported.keys).each { |object| same(told[object], reported[object]) }
    order(tasks)
    @differences
  end

  private

  def same(told, reported)
    @differences << "task: Ruby says #{told.inspect}, rcore #{reported.inspect}" unless told == reported
  end

  # Children in the order in which they were made, after their parents.
  def order(tasks)
    @told.group_by { |task| task["parent"] }.each_value do |children|
      objects = children.map { |child| child["object"] }
      found = tasks.map { |task| task["object"] } & objects
      @differences << "tasks in another order: #{found}" if objects.first != @told.first["object"] && found != objects && children.first["parent"]
    end
  end
end
