# SPDX-License-Identifier: MIT
require "open3"

# The suffixes of all outputs of `rcore report`, as its --help lists them: .svg, .html ...
module ProfileEndings
  def self.of(rcore)
    out, = Open3.capture2(rcore, "report", "--help")
    out.gsub(/\s+/, " ")[/--output=FILE.*?docs\/profile\.md/].scan(/(?<= )\.[a-z.]+[a-z]/)
  end
end
