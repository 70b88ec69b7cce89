# SPDX-License-Identifier: MIT
"""Turns values (docs/json.md) into Python values, for conditions and scripts."""

import re

from rcore_bridge import Error

_CONSTANTS = {"nil": None, "true": True, "false": False}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "e": "\x1b", "a": "\a", "b": "\b", "v": "\v", "f": "\f"}
_ESCAPE = re.compile(r"\\(?:u\{(\h+)\}|u(\h{4})|x(\h{2})|(.))".replace(r"\h", "[0-9A-Fa-f]"), re.DOTALL)


class Missing(Error):
    """Nothing has that name."""


def _unescape(found):
    braced, four, byte, letter = found.groups()
    code = braced or four or byte
    return chr(int(code, 16)) if code else _ESCAPES.get(letter, letter)


def python(value):
    """Returns an int, a float, a str (also for a Symbol), a bool or None; for other objects, what inspect
    prints."""
    text, kind = value.get("text"), value.get("class")
    if text is None:
        raise Error(value.get("problem", "the value cannot be read"))
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
    """Returns the value under `key` in the context of the selected fiber, or None."""
    fiber = session.stack("--native=none") or {}
    pairs = fiber.get("context", {}).get("pairs", [])
    found = [pair for pair in pairs if pair.get("name") == key]
    return python(found[0]) if found else None


def local(session, name):
    """Returns the value of a local or an argument of the selected Ruby frame. Raises Missing if there is none."""
    number, frame = session.ruby_frame("--locals", "--native=none")
    for variable in frame.get("arguments", []) + frame.get("locals", []):
        if variable.get("name") == name:
            return python(variable)
    raise Missing("there is no local %s in frame %d" % (name, number))


def address(session, of):
    """Returns "address", "object" or "ec" of the fiber, or "self" or "cfp" of its frame; 0: unknown."""
    fiber = session.stack("--native=none") or {}
    frames = fiber.get("frames", [])
    number = session.frame()
    frame = frames[number] if number < len(frames) else {}
    text = (frame if of in ("self", "cfp") else fiber).get(of)
    return int(text, 16) if text else 0
