# SPDX-License-Identifier: MIT
"""ruby-VERB, `ruby VERB`, and their aliases."""

import functools
import shlex

import lldb
from rcore_bridge import Error
from rcore_session import ALIASES


def guarded(function):
    """Whatever goes wrong is one line: a fault of these scripts must not end in a traceback."""

    @functools.wraps(function)
    def call(self, debugger, argument, context, result):
        try:
            function(self, debugger, argument, context, result)
        except KeyboardInterrupt:
            # The next Ctrl-C may come while this one is handled. Python looks
            # for it in calls, so none stands outside of the inner `try`.
            while True:
                try:
                    result.SetError("rcore: interrupted")
                    return
                except KeyboardInterrupt:
                    pass
        except (Error, OSError, ValueError) as failure:
            result.SetError("rcore: %s" % str(failure).replace("\n", " "))
        except Exception as failure:
            name = type(failure).__name__
            result.SetError("rcore: unexpected %s: %s; please report it" % (name, failure))

    return call


class Command:
    processes = command = None  # of each command's own class

    def __init__(self, _debugger, _dictionary):
        pass

    @guarded
    def __call__(self, debugger, argument, context, result):
        session = self.processes.session(debugger, context.GetTarget())
        text, error = session.run(self.command["verb"], shlex.split(argument))
        if text:
            result.PutCString(text.decode())
        if error:
            result.SetError("rcore: %s" % error)

    def get_short_help(self):
        return self.command["help"].split("\n", 1)[0]

    def get_long_help(self):
        return self.command["help"]


def _class_name(verb):
    return "Ruby" + verb.capitalize()


def register(debugger, module, processes, commands):
    """LLDB finds the class of a command by the name of the module that was imported."""
    interpreter = debugger.GetCommandInterpreter()

    def handle(line):
        interpreter.HandleCommand(line, lldb.SBCommandReturnObject())

    handle("command container delete ruby")
    handle('command container add -h "Commands for the Ruby in this process." ruby')
    for verb, command in commands.items():
        name = _class_name(verb)
        kind = type(name, (Command,), {"processes": processes, "command": command})
        setattr(module, name, kind)
        for line in ("ruby-" + verb, "ruby " + verb):
            handle("command script delete " + line)
            handle("command script add -c %s.%s %s" % (module.__name__, name, line))
    for alias, verb in ALIASES.items():
        free = not interpreter.CommandExists(alias) and not interpreter.AliasExists(alias)
        if verb in commands and free:
            handle("command alias %s ruby-%s" % (alias, verb))
