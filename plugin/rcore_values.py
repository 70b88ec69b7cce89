# SPDX-License-Identifier: MIT
"""Ruby's values for conditions and scripts in Python, out of what docs/json.md calls a value."""

import re

from rcore_bridge import Error

_CONSTANTS = {"nil": None, "true": True, "false": False}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "e": "\x1b", "a": "\a", "b": "\b", "v": "\v", "f": "\f"}
_ESCAPE = re.compile(r"\\(?:u\{(\h+)\}|u(\h{4})|x(\h{2})|(.))".replace(r"\h", "[0-9A-Fa-f]"), re.DOTALL)


class Missing(Error):
    """There is nothing of that name."""


def _unescape(found):
    braced, four, byte, letter = found.groups()
    code = braced or four or byte
    return chr(int(code, 16)) if code else _ESCAPES.get(letter, letter)


def python(value):
    """An int, a float, a str (also of a Symbol), a bool or None; of any other object what its inspect
    prints."""
    text, kind = value.get("text"), value.get("class")
    if text is None:
        raise Error(value.get("problem", "a value that cannot be read"))
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if kind == "Integer":
        return int(text)
    if kind == "Float" and text not in ("NaN", "Infinity", "-Infinity"):
        return float(text)
    if kind == "Float":
        return float(text.replace("Infinity", "inf"))
    text = text[1:] if kind == "Symbol" else text
    if text[:1] == text[-1:] == '"' and len(text) > 1 and kind in ("String", "Symbol"):
        return _ESCAPE.sub(_unescape, text[1:-1])
    return text


def state(session, key):
    """The value under `key` in the context of the selected fiber; None: it has none."""
    fiber = session.stack("--native=none") or {}
    pairs = fiber.get("context", {}).get("pairs", [])
    found = [pair for pair in pairs if pair.get("name") == key]
    return python(found[0]) if found else None


def local(session, name):
    """The value of a local or an argument of the selected Ruby frame. Missing: it has none of that name."""
    number, frame = session.ruby_frame("--locals", "--native=none")
    for variable in frame.get("arguments", []) + frame.get("locals", []):
        if variable.get("name") == name:
            return python(variable)
    raise Missing("no local is called %s in frame %d" % (name, number))


def address(session, of):
    """What is at `of` ("address", "object" or "ec" of the fiber, "self" or "cfp" of its frame); 0: nothing."""
    fiber = session.stack("--native=none") or {}
    frames = fiber.get("frames", [])
    number = session.frame()
    frame = frames[number] if number < len(frames) else {}
    text = (frame if of in ("self", "cfp") else fiber).get(of)
    return int(text, 16) if text else 0
