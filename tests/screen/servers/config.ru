# SPDX-License-Identifier: MIT
require_relative "scene"

run(lambda do |env|
  Scene.enter(env["PATH_INFO"].delete_prefix("/"))
  [200, {}, []]
end)
