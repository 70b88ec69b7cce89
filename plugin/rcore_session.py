# SPDX-License-Identifier: MIT
"""The commands of GDB and LLDB: completion, selection, and how a command runs. The script of each
debugger registers the commands (analyzer/command/) and passes an adapter to a Session:

    token()          a tuple: first what identifies the process, then everything else that makes what was read
                     stale when it changes (where files are, the number of the stop, unless the adapter
                     calls stale() and resumed()); raises Error if there is no process, or if it runs
    read(a, n)       returns n bytes at a, or raises an exception
    tell(target)     passes all facts to a Target
    tell_memory(target)  passes those that need no thread to be selected
    tid()            returns the selected kernel thread
    color()          returns whether text may have colors
    select(place)    shows the stack of a parked fiber (a Place) in place of its thread's; None: ends that
    evaluate(text)   returns the value of an expression as an int, or None
"""

import json

import rcore_expression
from rcore_bridge import Error, Place, Target, commands, help_text
from rcore_printer import Printer

ALIASES = {"rp": "print", "rb_ps": "fibers", "rbbt": "bt"}


def all_commands(library, prompt=None):
    """Returns the commands by verb; with a prompt ("(gdb) "), each also has its "help"."""
    found = {command["verb"]: command for command in commands(library)}
    for verb, command in found.items() if prompt else ():
        command["help"] = help_text(library, verb, prompt)
    return found


def _option(command, word):
    """Returns the option that an argument names, or None."""
    name = word.split("=")[0]
    for option in command["options"]:
        if name == "--" + option["name"] or name == "-" + option.get("letter", " "):
            return option
    return None


def complete(session, command, text):
    """Returns the last argument of a command line that ends in `text`, and everything that completes it."""
    words = text.split(" ")
    subcommands = {one["command"]: one for one in command.get("subcommands", ())}
    if len(words) > 1:
        command = subcommands.get(words[0], command)
        subcommands = {}
    last, before = words[-1], _option(command, words[-2]) if len(words) > 1 else None
    if "=" in last and last.startswith("--"):
        option, last = _option(command, last), last.split("=", 1)[1]
        return last, _values(session, option, last) if option else []
    if before and "value" in before and "=" not in words[-2]:
        return last, _values(session, before, last)
    if last.startswith("-"):
        names = ["--" + option["name"] for option in command["options"]]
        return last, [name for name in names if name.startswith(last)]
    return last, [name for name in subcommands if name.startswith(last)] + _values(session, command, last)


def _values(session, what, begun):
    choices = list(what.get("choices", ()))
    if what.get("completes") in ("thread", "fiber", "constant"):
        choices += session.candidates(what["completes"], begun)
    return [choice for choice in choices if choice.lower().startswith(begun.lower())]


class Session:
    """A process in a debugger, and what the user has selected in it."""

    def __init__(self, library, adapter):
        self._adapter = adapter
        self._library = library
        self._target = Target(library, adapter.read)
        self.printer = Printer(library, adapter)
        self._identity = None
        self._token = None
        self._commands = all_commands(library)
        self._own = {
            "fiber": self._select_fiber,
            "frame": self._select_frame,
            "up": lambda words: self._move(words, 1),
            "down": lambda words: self._move(words, -1),
        }
        self._place = None  # of the fiber that is selected
        self._tid = 0  # and of the thread whose stack it has
        self._frame = 0
        self._frame_of = None  # the fiber whose frame that is
        self._stacks = {}

    def stale(self):
        """Memory or registers have changed: what was read is no longer valid."""
        self._token = None
        self.printer.stale()

    def resumed(self, tid=None):
        """The process, or one of its threads, has run: its selection ends."""
        self.stale()
        if tid is None or tid == self._tid:
            self._place, self._frame = None, 0

    def target(self):
        """Returns the Target, with all facts."""
        token = self._adapter.token()
        if token != self._token or not self._target.has_facts:
            if self._token not in (None, token):
                self.resumed()
            # The ids of another process begin anew.
            if self._identity not in (None, token[0]):
                self.resumed()
                self._target.close()
                self._target = Target(self._library, self._adapter.read)
            self._identity = token[0]
            self._stacks.clear()
            self._target.forget()
            self._adapter.tell(self._target)
            self._target.has_facts = True
            self._token = token
        return self._target

    def candidates(self, kind, begun):
        try:
            found = self.target().complete(kind, begun)
        except Error:  # completion must not print errors
            found = []
        try:
            return found + (rcore_expression.candidates(self, begun) if kind == "constant" else [])
        except Error:
            return found

    def fiber(self):
        """Returns the id of the selected fiber, or of the fiber that the selected thread runs, or None."""
        tid = self._adapter.tid()
        if self._place and self._tid == tid:
            return self._place.id.decode()
        return self.target().current_fiber(tid)

    def follow(self, place):
        """Selects the fiber that the user has selected as a thread of the debugger (LLDB)."""
        self._place, self._tid = place, self._adapter.tid()

    def frame(self):
        """Returns the number of the Ruby frame that is selected in fiber()."""
        return self._frame if self._frame and self._frame_of == self.fiber() else 0

    def stack(self, *options):
        """Returns the JSON of fiber() (docs/json.md), with these options of ruby-fibers, as a dictionary, or
        None."""
        target, fiber = self.target(), self.fiber()
        key = (fiber, *options)
        if fiber and key not in self._stacks:
            text, error = target.run(["fibers", "--json", "--fiber", fiber, *options])
            if error:
                raise Error(error)
            found = json.loads(text)["fibers"]
            self._stacks[key] = found[0] if found else None
        return self._stacks.get(key)

    def ruby_frame(self, *options):
        """Returns the number of the selected Ruby frame, or, as ruby-locals does, of the innermost frame of Ruby
        code, and its dictionary in stack(), or {}."""
        frames = (self.stack(*options) or {}).get("frames", [])
        ruby = [number for number, frame in enumerate(frames) if frame.get("kind") == "ruby"]
        number = self.frame() or (ruby[0] if ruby else 0)
        return number, frames[number] if number < len(frames) else {}

    def run(self, verb, words):
        """Runs a command. Returns its text as bytes, or None, and its error, or None. May raise Error."""
        if verb in self._own:
            return self._own[verb](words)
        target = self.target()
        if verb == "print":
            words = rcore_expression.values(
                self, self._adapter.evaluate, self._commands[verb], words
            )
        target.set_number("color", int(self._adapter.color()))
        return target.run([verb, *self._selected(self._commands[verb], words), *words])

    def _selected(self, command, words):
        given = {option["name"] for option in map(lambda w: _option(command, w), words) if option}
        takes = {option["name"] for option in command["options"]} - given
        if not command.get("is_of_selection") or "fiber" not in takes or "thread" in given:
            return []
        fiber = self.fiber()
        chosen = ["--fiber", fiber] if fiber else []
        if chosen and "frame" in takes and self.frame():
            chosen += ["--frame", str(self.frame())]
        return chosen

    def _select_fiber(self, words):
        if len(words) > 1:
            raise Error("name one fiber; see help ruby-fiber")
        target = self.target()
        if not words:
            return self._describe()
        if words[0] == "off":
            if not self._place:
                raise Error("no fiber is selected")
            self._choose(None)
            return None, None
        place = target.locate_fiber(words[0])
        if place.state == Place.NONE:
            raise Error(
                "fiber %s has no stack to select: it has not begun, or has ended" % place.id.decode()
            )
        self._choose(place)
        return self._describe()

    def _choose(self, place):
        self._place, self._frame = None, 0
        self._adapter.select(place)
        if place and place.state == Place.PARKED:
            self._place, self._tid = place, self._adapter.tid()

    def _describe(self):
        fiber = self.fiber()
        if not fiber:
            raise Error("the selected thread runs no Ruby; ruby-fibers lists the fibers")
        parked = self._place and self._tid == self._adapter.tid()
        how = "parked; ruby-fiber off returns to its thread" if parked else "run by this thread"
        return ("fiber %s, %s\n" % (fiber, how)).encode(), None

    def _select_frame(self, words):
        return self._go(_number(words, self.frame(), "frame"))

    def _move(self, words, direction):
        verb = "up" if direction > 0 else "down"
        number = self.frame() + direction * _number(words, 1, verb)
        if number < 0:
            raise Error("frame 0 is the innermost")
        return self._go(number)

    def _go(self, number):
        text, error = self.run("bt", ["--frame", str(number)])
        if not error:
            self._frame, self._frame_of = number, self.fiber()
        return text, error


def _number(words, default, verb):
    if not words:
        return default
    if len(words) == 1 and words[0].isdigit():
        return int(words[0])
    raise Error("ruby-%s accepts one number; see help ruby-%s" % (verb, verb))
