# SPDX-License-Identifier: MIT
# Names that try to break out of every format that contains them.
begin
  require "ruby/profiler"
rescue LoadError
  nil # it is not to be had for Rubies before 3.3
end

NAMES = ["]]></failure><script>alert(1)</script>", "</details>\n```\n# forged", "::error file=x::forged\n::stop-commands::t",
         "%0A::error::forged", "\e[31m\e]0;title\a", "`$(id)` @everyone #1 [a](b) {0} | ~~x~~", "\xFF\xFEnot UTF-8\x00".b, "\u202Eright to left",
         "quotes \" ' < > & \\ \t\r"].freeze
PATHS = ["lib/]]>\"'<&>.rb", "lib/::error::a,b:c%0A\n::x.rb", "lib/`</details>`.rb", "lib/\xFF.rb".b, "lib/\e[2J.rb"].freeze

def evil(depth)
  name = NAMES[depth] or return crash
  code = "define_singleton_method(name) { |text| text << name.b; evil(depth + 1) }\nsend(name, String.new)"
  eval(code, binding, PATHS[depth % PATHS.size], 7)
end

def crash
  Thread.current.name = "</summary>]]>\e[31m\n::error::x"
  Thread.current["fiber local ]]>"] = NAMES.first
  if defined?(Ruby::Profiler::State)
    Ruby::Profiler::State.new("::error::key\n]]>": NAMES[1], "\e[31m": NAMES[4]).apply!
  end
  begin
    raise NAMES.map(&:b).join
  rescue RuntimeError
    Process.kill(:ABRT, Process.pid)
    sleep
  end
end

evil_class = Class.new { eval("def \u202E\u0085\u00A0; yield; end") }
# Before 3.3 a class has the name of its constant, or none.
evil_class.set_temporary_name("]]></failure>`::error file=x::\n\e[31m") if evil_class.respond_to?(:set_temporary_name)

Thread.new { sleep }.name = NAMES[2]
evil_class.new.send("\u202E\u0085\u00A0") { evil(0) }
