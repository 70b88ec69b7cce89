# SPDX-License-Identifier: MIT
"""Parked fibers as threads of LLDB.

LLDB asks an operating system plug-in (../rcore_fibers.py) which threads there are besides those of
the kernel, each time the process stops. From the first ruby-fiber on, it is told of the parked
fibers as they are at that stop, and of none once the process has run on.
"""

import os
import re

from rcore_bridge import Place

_PLUGIN = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "rcore_fibers.py")
_SETTING = "target.process.python-os-plugin-path"

# T2.F13 is thread 20000013, as rcore convert numbers them: more than any thread of the kernel.
_STEP, _FREE, _MAX = 10000000, 5000000, 213

# By unique number of the process: the number of the stop, and the Places by number of the thread.
FIBERS = {}


def number(fiber, index):
    found = re.match(r"T(\d+)\.F(\d+)$", fiber)
    if not found or int(found.group(1)) > _MAX or int(found.group(2)) >= _STEP:
        return _FREE + index
    return int(found.group(1)) * _STEP + int(found.group(2))


def fibers(process):
    """The Places of parked fibers at this stop, by number of the thread that stands for each."""
    stop, places = FIBERS.get(process.GetUniqueID(), (None, {}))
    return places if stop == process.GetStopID() else {}


class Stacks:
    def __init__(self, debugger):
        self._debugger = debugger

    def select(self, process, place, target):
        if not place:
            return self._end(process)
        tid = place.tid
        if place.state == Place.PARKED:
            if not fibers(process):
                self._begin(process, target)
            tid = self._thread_of(process, place)
        process.SetSelectedThreadByID(tid)

    @staticmethod
    def follow(process, session):
        """A fiber may have been selected as the thread that it is here."""
        thread = process.GetSelectedThread()
        place = fibers(process).get(thread.GetThreadID()) if thread.IsValid() else None
        if place:
            session.follow(place)

    def _begin(self, process, target):
        places = {}
        for index, fiber in enumerate(target.complete("fiber")):
            place = target.locate_fiber(fiber)
            if place.state == Place.PARKED:
                places[number(fiber, index)] = place
        FIBERS[process.GetUniqueID()] = (process.GetStopID(), places)
        self._debugger.HandleCommand('settings set %s "%s"' % (_SETTING, os.path.normpath(_PLUGIN)))

    def _end(self, process):
        places = fibers(process)
        thread = process.GetSelectedThread()
        place = places.get(thread.GetThreadID()) if thread.IsValid() else None
        FIBERS.pop(process.GetUniqueID(), None)
        self._debugger.HandleCommand("settings clear " + _SETTING)
        if place and place.tid:
            process.SetSelectedThreadByID(place.tid)

    @staticmethod
    def _thread_of(process, place):
        for tid, other in fibers(process).items():
            if other.id == place.id:
                return tid
        return place.tid
