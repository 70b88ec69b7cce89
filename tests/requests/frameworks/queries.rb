# SPDX-License-Identifier: MIT
# Queries that their database does not answer: sqlite calls the function "hold"; databases.rb plays the other servers.
require "mysql2"
require "pg"
require "sqlite3"
require_relative "databases"

# The statement names its row, so that the server knows what it holds.
def query_row(name, name_of_query = nil, call: "1", recognizer: "SQL")
  sql = "SELECT #{call} /* row: #{name} */"
  Stage.row(name, [recognizer, { sql: (sql if recognizer == "SQL"), sql_name: name_of_query }]) { yield sql }
end

def sqlite_row(name, name_of_query = nil, &block)
  query_row(name, name_of_query, call: "hold('#{name}')", &block)
end

def sqlite
  database = SQLite3::Database.new(":memory:")
  Databases.define_hold(database)
  database
end

sqlite_row "Active Record", "Order Load" do |sql|
  ActiveRecord::Base.with_connection do |connection|
    Databases.define_hold(connection.raw_connection)
    connection.select_value(sql, "Order Load")
  end
end

sqlite_row("sqlite3 execute") { |sql| sqlite.execute(sql) }
sqlite_row("sqlite3 execute_batch") { |sql| sqlite.execute_batch(sql) }
sqlite_row("sqlite3 query") { |sql| sqlite.query(sql, &:to_a) }

query_row("mysql2 query") do |sql|
  Mysql2::Client.new(host: "127.0.0.1", port: Databases::MYSQL, username: "shop").query(sql)
end

def pg
  PG.connect(host: "127.0.0.1", port: Databases::POSTGRESQL, user: "shop", dbname: "shop", sslmode: "disable", gssencmode: "disable")
end

query_row("pg exec") { |sql| pg.exec(sql) }
query_row("pg async_exec") { |sql| pg.async_exec(sql) }
query_row("pg sync_exec") { |sql| pg.sync_exec(sql) }
query_row("pg exec_params") { |sql| pg.exec_params(sql, [1]) }
query_row("pg async_exec_params") { |sql| pg.async_exec_params(sql, [1]) }
query_row("pg sync_exec_params") { |sql| pg.sync_exec_params(sql, [1]) }
query_row("pg copy_data") { |sql| pg.copy_data(sql) { raise "it was answered" } }

def prepared_row(name)
  query_row(name, "find_order", recognizer: "Prepared statement") do |sql|
    yield pg.tap { |connection| connection.prepare("find_order", sql) }
  end
end

prepared_row("pg exec_prepared") { |connection| connection.exec_prepared("find_order", []) }
prepared_row("pg async_exec_prepared") { |connection| connection.async_exec_prepared("find_order", []) }
prepared_row("pg sync_exec_prepared") { |connection| connection.sync_exec_prepared("find_order", []) }
