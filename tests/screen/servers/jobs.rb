# SPDX-License-Identifier: MIT
require "sidekiq"
require_relative "scene"

redis = { url: "redis://127.0.0.1:#{ENV.fetch("REDIS")}" }
Sidekiq.configure_server { |config| config.redis = redis }
Sidekiq.configure_client { |config| config.redis = redis }

class SceneJob
  include Sidekiq::Job

  def perform(name)
    Scene.enter(name)
  end
end
