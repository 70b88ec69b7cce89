# SPDX-License-Identifier: MIT
"""The part of the plugin that GDB and LLDB share, without either: what a debugger's reader may do.

    python3 tests/plugin/shared.py LIBRCORE.SO
"""

import contextlib
import io
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "plugin"))
sys.dont_write_bytecode = True

import rcore_bridge  # noqa: E402


class Bridge(unittest.TestCase):
    def report(self, read, *options):
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            with rcore_bridge.Target(rcore_bridge.load(), read) as target:
                target.set_text("machine", "x86_64")
                target.set_text("source", "caf\udce9")
                target.set_number("pid", None)
                target.add_mapping(0x10000, 0x20000, 0, "/nonexistent/a.out")
                target.add_thread(7, None, 0)
                try:
                    return target.run(["fibers", *options])
                finally:
                    self.assertEqual(errors.getvalue(), "")

    def test_zeroes(self):
        text, error = self.report(lambda address, size: bytes(size))
        self.assertTrue(text.startswith(b"caf\\xE9\n"))
        self.assertEqual(len(error.splitlines()), 1)

    def test_readers_that_fail(self):
        def raises(address, size):
            raise RuntimeError("cannot access memory")

        for read in (raises, lambda address, size: b"", lambda address, size: None):
            text, error = self.report(read)
            self.assertIn(b"No fatal signal recorded", text)
            self.assertEqual(len(error.splitlines()), 1)

    def test_interrupt(self):
        reads = []

        def interrupted(address, size):
            reads.append(address)
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.report(interrupted)
        self.assertEqual(len(reads), 1)

    def test_interrupted_start(self):
        """Ctrl-C before any line of __init__(): nothing that Python calls afterwards fails."""
        library, ignored, lines = rcore_bridge.load(), [], 0

        def strike(frame, event, _argument):
            nonlocal left
            if frame.f_code is not rcore_bridge.Target.__init__.__code__:
                return None
            left -= event == "line"
            if left < 0:
                sys.settrace(None)
                raise KeyboardInterrupt
            return strike

        hook, sys.unraisablehook = sys.unraisablehook, ignored.append
        try:
            for lines in range(99):
                left = lines
                sys.settrace(strike)
                try:
                    rcore_bridge.Target(library, None).close()
                    break
                except KeyboardInterrupt:
                    pass
                finally:
                    sys.settrace(None)
        finally:
            sys.unraisablehook = hook
        self.assertEqual([str(each.exc_value) for each in ignored], [])
        self.assertGreater(lines, 5)

    def test_bad_facts(self):
        with rcore_bridge.Target(rcore_bridge.load(), None) as target:
            with self.assertRaisesRegex(rcore_bridge.Error, "unknown machine"):
                target.set_text("machine", "vax")
            with self.assertRaisesRegex(rcore_bridge.Error, "registers are more than"):
                target.add_thread(7, range(64), 0)

    def test_registers(self):
        self.assertEqual(len(rcore_bridge.REGISTERS["x86_64"]), 27)
        self.assertEqual(rcore_bridge.REGISTERS["x86_64"][16], "rip")
        self.assertEqual(rcore_bridge.REGISTERS["x86_64"][19], "rsp")
        self.assertEqual(len(rcore_bridge.REGISTERS["aarch64"]), 34)
        self.assertEqual(rcore_bridge.REGISTERS["aarch64"][32], "pc")

    def test_another_library(self):
        abi, rcore_bridge.ABI = rcore_bridge.ABI, 99
        try:
            with self.assertRaisesRegex(rcore_bridge.Error, "needs 99; install both again"):
                rcore_bridge.load()
        finally:
            rcore_bridge.ABI = abi

    def test_no_library(self):
        named = os.environ["RCORE_LIBRARY"]
        for path, message in (("/nonexistent", "cannot load librcore"), ("libc.so.6", "different releases of rcore")):
            os.environ["RCORE_LIBRARY"] = path
            try:
                with self.assertRaisesRegex(rcore_bridge.Error, message):
                    rcore_bridge.load()
            finally:
                os.environ["RCORE_LIBRARY"] = named


if __name__ == "__main__":
    os.environ["RCORE_LIBRARY"] = os.path.abspath(sys.argv.pop(1))
    unittest.main()
