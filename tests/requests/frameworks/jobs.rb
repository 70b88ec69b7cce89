# SPDX-License-Identifier: MIT
# Jobs, performed as the worker of each library does.
require "delayed_job_active_record"
require "sidekiq"
require "sidekiq/processor"
# Without Sinatra, which only its web page needs.
$LOAD_PATH.unshift(File.join(Gem::Specification.find_by_name("resque").full_gem_path, "lib"))
require "resque"

module Tables
  def self.create
    load File.join(Gem.loaded_specs["solid_queue"].full_gem_path, "lib/generators/solid_queue/install/templates/db/queue_schema.rb")
    ActiveRecord::Schema.define do
      # As its migration does, which is for PostgreSQL.
      uuid = { id: :string, default: -> { "(hex(randomblob(16)))" } }
      create_table :good_jobs, **uuid do |table|
        %i[queue_name active_job_id concurrency_key cron_key retried_good_job_id batch_id batch_callback_id error job_class labels locked_by_id].each { |name| table.text name }
        %i[scheduled_at performed_at finished_at cron_at locked_at].each { |name| table.datetime name }
        %i[priority executions_count error_event].each { |name| table.integer name }
        table.json :serialized_params
        table.boolean :is_discrete
        table.timestamps
      end
      create_table :good_job_executions, **uuid do |table|
        %i[active_job_id job_class queue_name error error_backtrace process_id duration].each { |name| table.text name }
        %i[scheduled_at finished_at].each { |name| table.datetime name }
        table.json :serialized_params
        table.integer :error_event
        table.timestamps
      end
      create_table :delayed_jobs do |table|
        %i[handler last_error locked_by queue].each { |name| table.text name }
        %i[run_at locked_at failed_at].each { |name| table.datetime name }
        %i[priority attempts].each { |name| table.integer name, default: 0 }
        table.timestamps
      end
    end
  end
end

Tables.create

class ImportJob < ActiveJob::Base
  queue_as { "imports-#{arguments.first}" }

  # library: the one that performs this job, if not Active Job itself.
  def perform(_name, library = nil)
    outer = library ? [[library, LIBRARIES.fetch(library).call(self)]] : []
    Stage.hold(*outer, ["Active Job", { job_class: self.class, job_id: job_id, queue: queue_name }])
  end

  # What each library calls this job.
  LIBRARIES = {
    "Delayed Job" => ->(job) { { job_class: job.class.name, job_id: Delayed::Job.find_by!("handler LIKE ?", "%#{job.job_id}%").id, queue: job.queue_name } },
    "GoodJob" => ->(job) { { job_id: GoodJob::Job.find_by!(active_job_id: job.job_id).id, queue: job.queue_name } },
    "Solid Queue" => ->(job) { { job_id: SolidQueue::Job.find_by!(active_job_id: job.job_id).id } }
  }.freeze
end

def enqueue(adapter, *arguments)
  job = ImportJob.new(*arguments)
  ActiveJob::QueueAdapters.lookup(adapter).new.enqueue(job)
  job
end

class PriceJob
  def before(job)
    @job = job
  end

  def perform
    Stage.hold(["Delayed Job", { job_class: self.class, job_id: @job.id, queue: @job.queue }])
  end
end

class MailJob
  include Sidekiq::Job

  def perform(queue)
    Stage.hold(["Sidekiq", { job_class: self.class.name, job_id: jid, queue: queue }])
  end
end

class ReportJob
  def self.perform(queue)
    Stage.hold(["Resque", { job_class: name, queue: queue }])
  end
end

Stage.row("Active Job") { ImportJob.perform_now("inline") }

Stage.row "Delayed Job" do
  Delayed::Worker.new.run(Delayed::Job.enqueue(PriceJob.new, queue: "prices"))
end

# Loaded anew, as a worker does.
Stage.row "Delayed Job, Active Job" do
  job = enqueue(:delayed_job, "delayed", "Delayed Job")
  Delayed::Worker.new.run(Delayed::Job.find_by!("handler LIKE ?", "%#{job.job_id}%"))
end

Stage.row "GoodJob" do
  job = ImportJob.new("good", "GoodJob")
  id = SecureRandom.uuid
  GoodJob::Job.insert({ id: id, active_job_id: job.job_id, queue_name: job.queue_name, job_class: "ImportJob", serialized_params: job.serialize })
  result = GoodJob::Job.find(id).perform(lock_id: SecureRandom.uuid)
  raise result.unhandled_error
end

Stage.row "Solid Queue" do
  enqueue(:solid_queue, "solid", "Solid Queue")
  SolidQueue::ReadyExecution.claim("*", 1, nil).first.perform
end

Stage.row "Sidekiq" do
  config = Sidekiq::Config.new
  config.logger = Logger.new(IO::NULL)
  job = JSON.generate(class: "MailJob", args: ["mail"], jid: format("%024x", rand(1 << 90)), queue: "mail", retry: false)
  work = Sidekiq::BasicFetch::UnitOfWork.new("queue:mail", job, config)
  Sidekiq::Processor.new(config.default_capsule).send(:process, work)
end

Stage.row("Resque") { Resque::Job.new("reports", "class" => "ReportJob", "args" => ["reports"]).perform }
