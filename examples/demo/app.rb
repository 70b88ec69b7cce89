# SPDX-License-Identifier: MIT
# frozen_string_literal: true
require "fiddle"

module Http
  class Parser
    def next_token(bytes)
      bytes.each { |byte| return Fiddle::Pointer.new(byte)[0, 4] if byte }
    end
  end

  class Worker
    def initialize(queue) = @queue = queue

    def run = loop { serve(@queue.pop) }

    def serve(request)
      request.resume
    rescue FiberError
      retry
    end

    def self.start(queue)
      Thread.new { new(queue).run }
    end
  end
end

queue = Queue.new
workers = Array.new(2) { |i| Http::Worker.start(queue).tap { |t| t.name = "worker #{i + 1}" } }
parked = Array.new(100) { Fiber.new { [1].each { Fiber.yield } }.tap(&:resume) }
sleep 0.1
queue << nil if ARGV.include?("nil")
Fiber.new { Http::Parser.new.next_token([nil, 0x28]) }.resume
