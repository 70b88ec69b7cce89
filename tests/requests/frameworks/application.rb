# SPDX-License-Identifier: MIT
# Rails with sqlite: a request to a controller, and a mail. The jobs use its database.
require "logger"
require "action_controller/railtie"
require "action_mailer/railtie"
require "active_job/railtie"
require "active_record/railtie"
require "good_job"
require "solid_queue"

ENV["DATABASE_URL"] = "sqlite3:#{Dir.pwd}/frameworks.db?pool=40&timeout=60000"

class Shop < Rails::Application
  config.root = Dir.pwd
  config.load_defaults Rails::VERSION::STRING.to_f
  config.eager_load = false
  config.hosts.clear
  config.secret_key_base = "none"
  config.logger = Logger.new(IO::NULL)
  config.good_job.execution_mode = :external
  routes.append { get ":id", to: "shop/orders#show" }
end

class Shop::OrdersController < ActionController::Base
  def show
    Stage.hold(
      ["Rack", { method: request.request_method, path: request.path, host: request.host, request_id: request.request_id }],
      ["Rails", { controller: self.class, action: action_name }]
    )
  end
end

class ReceiptMailer < ActionMailer::Base
  def receipt
    Stage.hold(["Action Mailer", { mailer: self.class, mail: action_name.to_sym }])
  end
end

Shop.initialize!
ActiveRecord::Schema.verbose = false

Stage.row "Rails" do
  Shop.call(Rack::MockRequest.env_for("/7?x=1", "HTTP_HOST" => "shop.example", "HTTP_X_REQUEST_ID" => "r-#{rand(1_000_000)}"))
end

Stage.row("Action Mailer") { ReceiptMailer.receipt.deliver_now }
