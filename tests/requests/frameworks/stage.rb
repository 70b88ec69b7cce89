# SPDX-License-Identifier: MIT
require "fiber"
require "json"

# Threads that each work on one thing and stay there. What each works on is written to the file "truth".
module Stage
  READY = Queue.new
  ROWS = {}
  LIMIT = 240 # seconds until all rows are held

  # The block works on something on a thread of its own. It ends up in `hold`, or a server holds it; then `works` say before on what.
  def self.row(name, *works, &block)
    ROWS[name] = { works: works, play: block }
  end

  # Writes what this fiber works on, the outermost first, and waits forever.
  def self.hold(*works)
    note(works)
    READY << Thread.current[:row]
    Queue.new.pop
  end

  def self.note(works)
    truth = ROWS.fetch(Thread.current[:row])
    truth[:fiber] = Kernel.instance_method(:to_s).bind_call(Fiber.current)[/0x\h+/].hex
    truth[:works] = works.map { |name, fields| [name, fields.compact.to_h { |field, value| [field, text(value)] }] }
  end

  # As rcore prints it.
  def self.text(value)
    value.is_a?(Module) ? value.name : value.inspect
  end

  # A server received a request that it will never answer.
  def self.held(name)
    READY << name
  end

  # One after the other: sqlite has one writer at a time.
  def self.play
    late = Thread.new { sleep(LIMIT) && READY.close }
    ROWS.each do |name, row|
      start(name, row)
      ready = READY.pop
      row[:error] ||= "#{ready.inspect} is held" if ready != name
    end
    late.kill
    File.write("pid", Process.pid)
    File.write("truth.new", JSON.generate(ROWS.transform_values { |row| row.slice(:fiber, :works, :error) }))
    File.rename("truth.new", "truth")
    sleep
  end

  def self.start(name, row)
    Thread.new do
      Thread.current[:row] = name
      note(row[:works])
      row[:play].call
      raise "nothing held it"
    rescue Exception => error
      row[:error] = "#{error.class}: #{error.message} #{error.backtrace.first(4)}"
      READY << name
    end
  end
end
