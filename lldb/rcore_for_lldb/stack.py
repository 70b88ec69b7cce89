# SPDX-License-Identifier: MIT
"""Parked fibers as threads of LLDB.

LLDB asks an operating system plug-in (../rcore_fibers.py) which threads there are besides those of
the kernel, each time the process stops. The first ruby-fiber loads it. It then reports the parked
fibers as they are at that stop; after the process has run, it reports none until the next ruby-fiber.
It is never unloaded: in LLDB 19, threads may outlive a plug-in that is unloaded, and LLDB crashes.
"""

import os
import re

from rcore_bridge import Place

_PLUGIN = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "rcore_fibers.py")
_SETTING = "target.process.python-os-plugin-path"

# T2.F13 is thread 20000013, as rcore convert numbers them: more than any thread
# of the kernel.
_STEP, _FREE, _MAX = 10000000, 5000000, 213

# By unique number of the process: the number of the stop, and the Places by
# number of the thread.
FIBERS = {}

# Processes that have the plug-in.
_LOADED = set()


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
        if process.GetUniqueID() in _LOADED:
            for tid in sorted(places):
                process.CreateOSPluginThread(tid, 0)
        else:
            _LOADED.add(process.GetUniqueID())
            path = os.path.normpath(_PLUGIN)
            self._debugger.HandleCommand('settings set %s "%s"' % (_SETTING, path))

    # The threads stay until the process runs on.
    @staticmethod
    def _end(process):
        thread = process.GetSelectedThread()
        place = fibers(process).get(thread.GetThreadID()) if thread.IsValid() else None
        tids = [thread.GetThreadID() for thread in process if thread.GetThreadID() not in fibers(process)]
        if place and tids:
            process.SetSelectedThreadByID(place.tid if place.tid in tids else tids[0])

    @staticmethod
    def _thread_of(process, place):
        for tid, other in fibers(process).items():
            if other.id == place.id:
                return tid
        return place.tid
