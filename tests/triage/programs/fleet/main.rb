# SPDX-License-Identifier: MIT
# Writes truth.json, and dies in Checkout#pay, which the method that the first argument names calls.
require "json"
require "rbconfig"

class Order; end

class Checkout
  def total
    pay
  end

  def refund
    pay
  end

  def pay
    Process.kill(:ABRT, Process.pid)
  end
end

KEPT = Array.new(5000) { Order.new }
folders = RbConfig::CONFIG.values_at("archlibdir", "libdir").compact
library = folders.map { |folder| File.join(folder, RbConfig::CONFIG["LIBRUBY_SO"]) }.find { |path| File.exist?(path) }
truth = { pid: Process.pid, ruby: RUBY_VERSION, library: library, orders: KEPT.size,
          environment: ENV.to_h.slice("OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES", "HOSTNAME") }
File.write("truth.json", JSON.generate(truth))
Checkout.new.public_send(ARGV.fetch(0))
sleep
