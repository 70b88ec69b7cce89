# SPDX-License-Identifier: MIT
"""The arguments of ruby-print in a debugger. A VALUE is one of

    0x7f12a5c3e8b0      a number
    self                of the selected Ruby frame
    user                a local or an argument of it
    Foo::BAR            a constant
    @name, user.@id     an instance variable of self or of the value before it, to any depth
    (VALUE) argv[0]     any other expression without an assignment, which the debugger evaluates to an
                        integer; LLDB on a process only paths of variables (argv[0]) and registers ($rdi)
"""

import json
import re

from rcore_bridge import Error

_NUMBER = re.compile(r"0x[0-9A-Fa-f]+|\d+")
_CONSTANT = re.compile(r"(?:::)?[^\W\d_a-z]\w*(?:::[^\W\d]\w*)*")
_PATH = re.compile(r"(%s|[^\W\dA-Z]\w*)?((?:\.?@@?\w+)*)" % _CONSTANT.pattern)
_KNOWN = ("--locals", "--self", "--native=none")
_ALL = ("--depth", "0", "--max-items", "65536")
_FIRST = re.compile(r"\.?(@@?\w+)")
_ASSIGNMENT = re.compile(r"(?<![=!<>])=(?!=)|<<=|>>=|\+\+|--")


def values(session, evaluate, command, words):
    """Returns the command line with each value as a number. If an argument is not a value, all of them
    together are one expression."""
    options, plain = _split(command, words)
    found = [_value(session, word) for word in plain]
    if None not in found:
        return options + ["--"] + found if found else options
    text = " ".join(plain)
    number = None if _ASSIGNMENT.search(text) else evaluate(text)
    if number is not None:
        return options + ["--", hex(number & (1 << 64) - 1)]
    if _CONSTANT.fullmatch(text):
        return options + ["--", text]  # the library reports the error
    raise Error(
        "'%s' is not a VALUE, a local of the selected Ruby frame, a constant or an integer "
        "expression; see help ruby-print" % text
    )


def candidates(session, begun):
    """Returns what completes an argument of ruby-print, except constants."""
    head, at, _ = begun.rpartition("@")
    if not at:
        _, frame = session.ruby_frame(*_KNOWN)
        return ["self"] + [variable["name"] for variable in _variables(frame)]
    head = head.rstrip("@")
    value = _value(session, head.rstrip(".") or "self")
    found = _printed(session, value).get("variables", []) if value else []
    return [head + variable["name"] for variable in found if "name" in variable]


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
    """Returns the number as text; None: it is not a value."""
    if _NUMBER.fullmatch(word):
        return word
    path = _PATH.fullmatch(word)
    if not path or not word:
        return None
    name, rest = path.groups()
    value = _base(session, name or "self")
    if value is None and rest:
        kind = "constant" if _CONSTANT.fullmatch(name) else "local of the selected Ruby frame"
        raise Error("'%s' is not a %s" % (name, kind))
    for ivar in _FIRST.findall(rest):
        value = _instance_variable(session, value, ivar)
    return value


def _base(session, name):
    if _CONSTANT.fullmatch(name):
        text, _ = session.target().run(["print", "--json", *_ALL, name])
        return json.loads(text)["values"][0].get("value", "0") if text else None
    _, frame = session.ruby_frame(*_KNOWN)
    if name == "self":
        return frame.get("self")
    for variable in _variables(frame):
        if variable.get("name") == name:
            return variable.get("value", "0")
    return None


def _variables(frame):
    return [one for one in frame.get("arguments", []) + frame.get("locals", []) if "name" in one]


def _printed(session, value):
    text, error = session.target().run(["print", "--json", *_ALL, value])
    if error:
        raise Error(error)
    return json.loads(text)["values"][0]


def _instance_variable(session, value, name):
    printed = _printed(session, value)
    for variable in printed.get("variables", []):
        if variable.get("name") == name:
            return variable.get("value", "0")
    raise Error("%s has no instance variable %s" % (printed.get("text", value), name))
