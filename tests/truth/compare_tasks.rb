# SPDX-License-Identifier: MIT

# Compares the tree of tasks of the gem async with the one that the program wrote.
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

  # Fails unless rcore lists the children of each task in the order in which the program made them.
  def order(tasks)
    @told.group_by { |task| task["parent"] }.each_value do |children|
      objects = children.map { |child| child["object"] }
      found = tasks.map { |task| task["object"] } & objects
      @differences << "tasks in another order: #{found}" if objects.first != @told.first["object"] && found != objects && children.first["parent"]
    end
  end
end
