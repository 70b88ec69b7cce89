# SPDX-License-Identifier: MIT
"""Runs commands inside LLDB and writes what each gave, byte for byte, as JSON:

    command script import driver.py
    drive IN.json OUT.json

IN has a list; a word that begins with @ is one of QUESTIONS.
"""

import contextlib
import glob
import io
import json
import os
import sys
import time

import lldb

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import process_memory  # noqa: E402


def pcs(process, debugger):
    """Of the selected thread, without inlined frames."""
    thread = process.GetSelectedThread()
    return [hex(frame.GetPC()) for frame in thread.frames if not frame.IsInlined()]


def all_pcs(process, debugger):
    """By name or number of each thread."""
    stacks = {}
    for thread in process:
        frames = [hex(frame.GetPC()) for frame in thread.frames if not frame.IsInlined()]
        stacks[str(thread.GetThreadID())] = [thread.GetName(), frames]
    return stacks


def tid(process, debugger):
    return process.GetSelectedThread().GetThreadID()


def memory(process, debugger):
    """A digest of the process' memory, and the registers of its first thread."""
    pid = process.GetProcessID()
    groups = process.GetThreadByID(pid).GetFrameAtIndex(0).GetRegisters()
    general = [register.GetValue() for register in groups[0]] if groups else []
    return [process_memory.digest(pid), general]


def until(process, states):
    for _ in range(600):
        if process.GetState() in states:
            return None
        time.sleep(0.05)
    return "the process is in state %d" % process.GetState()


def asleep(process):
    """Whether each thread is in a system call again, which a stop interrupts.

    A thread that is stopped before it has begun the call anew is two bytes
    before that place.
    """
    for path in glob.glob("/proc/%d/task/*/stat" % process.GetProcessID()):
        with open(path) as file:
            if file.read().rsplit(")", 1)[1].split()[0] != "S":
                return False
    return True


def go_on(process, debugger):
    debugger.SetAsync(True)
    process.Continue()
    problem = until(process, (lldb.eStateRunning,))
    for _ in range(600):
        if asleep(process):
            break
        time.sleep(0.05)
    return problem


def run_to_breakpoint(process, debugger):
    """Comes back once a condition held."""
    debugger.SetAsync(False)
    process.Continue()
    reason = process.GetSelectedThread().GetStopReason()
    return None if reason == lldb.eStopReasonBreakpoint else "no stop at the breakpoint: %d" % reason


def stop(process, debugger):
    process.SendAsyncInterrupt()
    problem = until(process, (lldb.eStateStopped,))
    debugger.SetAsync(False)
    return problem


def select_next(process, debugger):
    """Another fiber, as people select threads; gives its name."""
    selected = process.GetSelectedThread().GetThreadID()
    others = [thread for thread in process if (thread.GetName() or "").startswith("T")]
    other = [thread for thread in others if ".F" in thread.GetName() and thread.GetThreadID() != selected][0]
    debugger.HandleCommand("thread select %d" % other.GetIndexID())
    return other.GetName()


def look(process, debugger):
    """Selects the frame of that function."""
    thread = process.GetSelectedThread()
    for frame in thread.frames:
        if frame.GetFunctionName() == "look":
            thread.SetSelectedFrame(frame.GetFrameID())
            return None
    return "no frame is called look"


QUESTIONS = {
    "@look": look,
    "@next": select_next,
    "@tid": tid,
    "@pcs": pcs,
    "@all_pcs": all_pcs,
    "@memory": memory,
    "@continue": go_on,
    "@stop": stop,
    "@run_to_breakpoint": run_to_breakpoint,
}


def answer(debugger, command):
    process = debugger.GetSelectedTarget().GetProcess()
    if command in QUESTIONS:
        return {"value": QUESTIONS[command](process, debugger)}
    if command.startswith("script "):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(command[len("script ") :], {"rcore_lldb": sys.modules["rcore_lldb"], "json": json})
        return {"value": printed.getvalue()}
    result = lldb.SBCommandReturnObject()
    # Otherwise, it would be the frame that was selected when the first command
    # began.
    frame = process.GetSelectedThread().GetSelectedFrame()
    interpreter = debugger.GetCommandInterpreter()
    if frame.IsValid():
        interpreter.HandleCommand(command, lldb.SBExecutionContext(frame), result)
    else:
        interpreter.HandleCommand(command, result)
    return {"output": result.GetOutput() or "", "error": result.GetError() or ""}


def drive(debugger, argument, result, _dictionary):
    given, wanted = argument.split()
    with open(given) as file:
        commands = json.load(file)
    answers = [answer(debugger, command) for command in commands]
    with open(wanted, "w") as file:
        json.dump(answers, file)


def __lldb_init_module(debugger, _dictionary):
    debugger.HandleCommand("command script add -f %s.drive drive" % __name__)
