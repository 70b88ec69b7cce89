# SPDX-License-Identifier: MIT
"""What ruby-print takes in a debugger: a VALUE as

    0x7f12a5c3e8b0      a number
    self                of the selected Ruby frame
    user                a local or an argument of it
    @name, user.@id     an instance variable, of self or of what stands before it; in any depth
    (VALUE) argv[0]     any other expression, which the debugger evaluates to an integer
"""

import json
import re

from rcore_bridge import Error

_NUMBER = re.compile(r"0x[0-9A-Fa-f]+|\d+")
_PATH = re.compile(r"(self|[a-z_]\w*)?((?:\.?@@?\w+)*)")
_FIRST = re.compile(r"\.?(@@?\w+)")


def values(session, evaluate, command, words):
    """The command line with each value as a number. What is no value by itself is one expression."""
    options, plain = _split(command, words)
    found = [_value(session, word) for word in plain]
    if None not in found:
        return options + ["--"] + found if found else options
    text = " ".join(plain)
    number = evaluate(text)
    if number is None:
        raise Error(
            "'%s' is no VALUE, no local of the selected Ruby frame, and no integer expression; "
            "see help ruby-print" % text
        )
    return options + ["--", hex(number & (1 << 64) - 1)]


def _split(command, words):
    options, plain = [], []
    takes = set()
    for option in command["options"]:
        if "value" in option:
            takes |= {"--" + option["name"], "-" + option.get("letter", "-")}
    rest = iter(words)
    for word in rest:
        if not word.startswith("-") or re.match(r"-\d", word):
            plain.append(word)
            continue
        options.append(word)
        if word in takes:
            options += [value for value in [next(rest, None)] if value is not None]
    return options, plain


def _value(session, word):
    """A number as text; None: it is no value by itself."""
    if _NUMBER.fullmatch(word):
        return word
    path = _PATH.fullmatch(word)
    if not path or not word:
        return None
    name, rest = path.groups()
    value = _base(session, name or "self")
    if value is None and rest:
        raise Error("no local of the selected Ruby frame is called %s" % name)
    for ivar in _FIRST.findall(rest):
        value = _instance_variable(session, value, ivar)
    return value


def _base(session, name):
    fiber = session.stack("--locals", "--self") or {}
    frames = fiber.get("frames", [])
    number = session.frame()
    if not number:  # as ruby-locals: the innermost may be a method in C
        ruby = [at for at, frame in enumerate(frames) if frame.get("kind") == "ruby"]
        number = ruby[0] if ruby else 0
    frame = frames[number] if number < len(frames) else {}
    if name == "self":
        return frame.get("self")
    for variable in frame.get("arguments", []) + frame.get("locals", []):
        if variable.get("name") == name:
            return variable.get("value", "0")
    return None


def _instance_variable(session, value, name):
    text, error = session.target().run(["print", "--json", value])
    if error:
        raise Error(error)
    printed = json.loads(text)["values"][0]
    for variable in printed.get("variables", []):
        if variable.get("name") == name:
            return variable.get("value", "0")
    raise Error("%s has no instance variable %s" % (printed.get("text", value), name))
