# SPDX-License-Identifier: MIT
# Each framework works on something: ruby main.rb, in a folder to write to.
require_relative "stage"
require_relative "application"
require_relative "jobs"
require_relative "tasks"
require_relative "queries"
require_relative "connections"

Stage.play
