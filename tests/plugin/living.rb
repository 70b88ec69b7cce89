# SPDX-License-Identifier: MIT
require_relative "case"

# Living processes.
module Living
  def self.cases(rubies, debuggers)
    []
  end
end
