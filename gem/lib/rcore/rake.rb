# frozen_string_literal: true
# SPDX-License-Identifier: MIT
require "rake"
require "rcore"

# The task of another suite asks for it, too: task spec: "rcore:watch"
desc "Report each Ruby that crashes in the tasks that follow"
task("rcore:watch") { Rcore.watch }
task test: "rcore:watch"
