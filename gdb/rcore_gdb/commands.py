# SPDX-License-Identifier: MIT
"""ruby-VERB, `ruby VERB`, and their aliases."""

import gdb
from rcore_session import ALIASES, complete

from .process import guarded


def write(text):
    try:
        gdb.write(text)
    except UnicodeEncodeError:  # a terminal that is not UTF-8
        gdb.write(text.encode("ascii", "backslashreplace").decode())


class Command(gdb.Command):
    def __init__(self, processes, command, name):
        self.__doc__ = command["help"]
        super().__init__(name, gdb.COMMAND_STACK)
        self._processes = processes
        self._command = command

    @guarded
    def invoke(self, argument, from_tty):
        self.dont_repeat()
        session = self._processes.session()
        text, error = session.run(self._command["verb"], gdb.string_to_argv(argument))
        if text:
            write(text.decode())
        if error:
            raise gdb.GdbError("rcore: %s" % error)

    def complete(self, text, word):
        if word is None:  # GDB asks for characters that end a word
            return []
        try:
            return self._complete(text, word)
        except gdb.GdbError:  # completion is no place to complain
            return []

    @guarded
    def _complete(self, text, word):
        begun, found = complete(self._processes.session(), self._command, text)
        cut = len(begun) - len(word)
        return [candidate[max(cut, 0) :] for candidate in found]


class Prefix(gdb.Command):
    """Commands for Ruby processes. `ruby NAME` is short for ruby-NAME."""

    def __init__(self):
        super().__init__("ruby", gdb.COMMAND_STACK, prefix=True)

    def invoke(self, argument, from_tty):
        gdb.execute("help ruby")


def _is_free(name):
    try:
        gdb.execute("help " + name, to_string=True)
    except gdb.error:
        return True
    return False


def register(processes, commands):
    Prefix()
    for verb, command in commands.items():
        Command(processes, command, "ruby-" + verb)
        Command(processes, command, "ruby " + verb)
    for alias, verb in ALIASES.items():
        if verb in commands and _is_free(alias):
            gdb.execute("alias %s = ruby-%s" % (alias, verb))
