# SPDX-License-Identifier: MIT
# Rails with sqlite, in one file.
require "logger"
require "action_controller/railtie"
require "active_record/railtie"
require_relative "scene"

class SceneApp < Rails::Application
  config.root = __dir__
  config.load_defaults Rails::VERSION::STRING.to_f
  config.eager_load = false
  config.hosts.clear
  config.secret_key_base = "none"
  config.logger = Logger.new(IO::NULL)
  routes.append { get "/:name", to: "scenes#show" }
end

class Rate < ActiveRecord::Base
end

class ScenesController < ActionController::Base
  def show
    Scene.enter(nil) { send(params[:name]) }
    head :ok
  end

  private

  # More requests than connections: each that has one waits for a peer.
  def connection
    Rate.connection_pool.with_connection do
      Rate.first
      socket = TCPSocket.new("127.0.0.1", Scene::PEER)
      Scene.plant(line: __LINE__ + 1)
      socket.read(1)
    end
  end

  # A request waits for a thread that needs the interlock, which another thread wants to lock to reload the code.
  def interlock
    executor, lock = Rails.application.executor, ActiveSupport::Dependencies.interlock
    wait = ->(thread) { sleep 0.01 until lock.raw_state { |threads| threads.dig(thread, :sleeper) } }
    Thread.new { executor.wrap { lock.unloading { raise "not reached" } } }.tap(&wait)
    needs = Thread.new { executor.wrap { raise "not reached" } }.tap(&wait)
    Scene.plant(line: __LINE__ + 1)
    needs.join
  end

  # sqlite3 keeps the GVL.
  def query
    Scene.plant(line: __LINE__ + 1)
    Rate.connection.select_value("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n")
  end
end

ENV["DATABASE_URL"] = "sqlite3:#{__dir__}/rates.db?pool=5&checkout_timeout=3600"
SceneApp.initialize!
ActiveRecord::Schema.verbose = false
ActiveRecord::Schema.define { create_table(:rates) { |table| table.integer :cents } }
# It was this thread's.
ActiveRecord::Base.connection_handler.clear_active_connections!
run SceneApp
