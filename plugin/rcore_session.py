# SPDX-License-Identifier: MIT
"""The commands of GDB and LLDB: completion, what is selected, and how a command runs. A debugger's own
script registers what the library describes (analyzer/command/), and gives a Session an adapter:

    token()          a tuple: first what differs for each process, then whatever else what was read depends on
                     (where files are looked for, the number of the stop, unless stale() and resumed() are
                     called); raises Error where there is no process, or it runs
    read(a, n)       n bytes at a, or raises
    tell(target)     gives a Target its facts
    tell_memory(target)  those that no thread has to be looked at for
    tid()            the kernel thread that is selected
    color()          whether text may have colors
    select(place)    makes the stack of a parked fiber (a Place) that of its thread; None: ends that
    evaluate(text)   the value of an expression as an int, or None
"""

import json

import rcore_expression
from rcore_bridge import Error, Place, Target, commands, help_text
from rcore_printer import Printer

ALIASES = {"rp": "print", "rb_ps": "fibers", "rbbt": "bt"}


def all_commands(library, prompt=None):
    """By verb; with a prompt ("(gdb) ") each has its "help" too."""
    found = {command["verb"]: command for command in commands(library)}
    for verb, command in found.items() if prompt else ():
        command["help"] = help_text(library, verb, prompt)
    return found


def _option(command, word):
    """The option that a word of the command line is, or None."""
    name = word.split("=")[0]
    for option in command["options"]:
        if name == "--" + option["name"] or name == "-" + option.get("letter", " "):
            return option
    return None


def complete(session, command, text):
    """For a command line that ends in `text`: what was begun, and all that it may become."""
    words = text.split(" ")
    last, before = words[-1], _option(command, words[-2]) if len(words) > 1 else None
    if "=" in last and last.startswith("--"):
        option, last = _option(command, last), last.split("=", 1)[1]
        return last, _values(session, option, last) if option else []
    if before and "value" in before and "=" not in words[-2]:
        return last, _values(session, before, last)
    if last.startswith("-"):
        names = ["--" + option["name"] for option in command["options"]]
        return last, [name for name in names if name.startswith(last)]
    return last, _values(session, command, last)


def _values(session, what, begun):
    choices = list(what.get("choices", ()))
    if what.get("completes") in ("thread", "fiber", "constant"):
        choices += session.candidates(what["completes"], begun)
    return [choice for choice in choices if choice.lower().startswith(begun.lower())]


class Session:
    """A process under a debugger, and what the user has selected in it."""

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
        """Memory or registers have changed: what was read does not hold."""
        self._token = None
        self.printer.stale()

    def resumed(self, tid=None):
        """The process runs, or one thread of it: what was selected there is so no more."""
        self.stale()
        if tid is None or tid == self._tid:
            self._place, self._frame = None, 0

    def target(self):
        """The Target, told of all there is to tell."""
        token = self._adapter.token()
        if token != self._token or not self._target.is_told:
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
            self._target.is_told = True
            self._token = token
        return self._target

    def candidates(self, kind, begun):
        try:
            found = self.target().complete(kind, begun)
        except Error:  # completion is no place to complain
            found = []
        try:
            return found + (rcore_expression.candidates(self, begun) if kind == "constant" else [])
        except Error:
            return found

    def fiber(self):
        """The id of the fiber that is selected, or that the selected thread runs; None: neither."""
        tid = self._adapter.tid()
        if self._place and self._tid == tid:
            return self._place.id.decode()
        return self.target().current_fiber(tid)

    def follow(self, place):
        """Where parked fibers are threads of the debugger: the Place of the one that was selected there."""
        self._place, self._tid = place, self._adapter.tid()

    def frame(self):
        """The number of the Ruby frame that is selected in fiber()."""
        return self._frame if self._frame and self._frame_of == self.fiber() else 0

    def stack(self, *options):
        """What docs/json.md says of fiber(), with these options of ruby-fibers, as a dictionary; None: there
        is none."""
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
        """The number of the selected Ruby frame, else, as for ruby-locals, of the innermost of Ruby code, and what
        stack() has of it; {}: there is none."""
        frames = (self.stack(*options) or {}).get("frames", [])
        ruby = [number for number, frame in enumerate(frames) if frame.get("kind") == "ruby"]
        number = self.frame() or (ruby[0] if ruby else 0)
        return number, frames[number] if number < len(frames) else {}

    def run(self, verb, words):
        """A command: its text as bytes, or None, and its error, or None. May raise Error."""
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
            raise Error("one fiber at a time; see help ruby-fiber")
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
    raise Error("ruby-%s takes one number; see help ruby-%s" % (verb, verb))
