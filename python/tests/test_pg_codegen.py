"""The module against the program: ``python3 -m unittest discover python/tests``."""

import os
import signal
import stat
import sys
import tempfile
import threading
import time
import unittest
from decimal import Decimal
from pathlib import Path
from unittest import mock

import pg_codegen
from pg_codegen import PgCodegenError, Verdict, _program

NETWORKS = Path(__file__).resolve().parents[2] / "tests" / "networks"
DIGITS = NETWORKS / "digits_16.onnx"
ROBUST = NETWORKS / "digits_16_robust.vnnlib"
VIOLATED = NETWORKS / "digits_16_violated.vnnlib"
IMAGE = NETWORKS / "digit_3.csv"

try:
    import numpy
except ImportError:
    numpy = None


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        # What the module writes on its way is seen to go.
        temporary = self.folder / "temporary"
        temporary.mkdir()
        patch = mock.patch.object(tempfile, "tempdir", str(temporary))
        patch.start()
        self.addCleanup(patch.stop)
        self.addCleanup(lambda: self.assertEqual(list(temporary.iterdir()), []))


class Verify(Folder):
    def test_a_property_that_holds(self):
        result = pg_codegen.verify(DIGITS, ROBUST, timeout=60, threads=1, seed=3)
        self.assertIs(result.verdict, Verdict.UNSAT)
        self.assertEqual(result.verdict, "unsat")
        self.assertIsNone(result.witness)
        self.assertIsNone(result.certificate)
        self.assertGreater(result.seconds, 0)
        self.assertGreaterEqual(result.counters["leaves"], 1)
        options = result.report["options"]
        self.assertEqual((options["timeout"], options["threads"], options["seed"]), (60, 1, 3))

    def test_a_violated_one_has_a_witness(self):
        result = pg_codegen.verify(str(DIGITS), str(VIOLATED))
        self.assertEqual(result.verdict, "sat")
        self.assertEqual((len(result.witness.input), len(result.witness.output)), (64, 10))
        self.assertNotEqual(max(range(10), key=lambda k: result.witness.output[k]), 3)
        kind = numpy.ndarray if numpy else list
        self.assertIsInstance(result.witness.input, kind)

    def test_a_result_is_not_taken_for_true(self):
        with self.assertRaisesRegex(TypeError, "compare its verdict"):
            assert pg_codegen.verify(DIGITS, VIOLATED)

    def test_time_runs_out(self):
        result = pg_codegen.verify(DIGITS, ROBUST, timeout=0)
        self.assertEqual((result.verdict, result.reason), ("timeout", "the time was used up"))

    def test_options_reach_the_program(self):
        options = ["--penalty", "uniform"]
        result = pg_codegen.verify(DIGITS, ROBUST, engine="peregrinn", semantics="float32", options=options)
        told = result.report["options"]
        self.assertEqual((told["engine"], told["semantics"], told["penalty"]), ("peregrinn", "float32", "uniform"))

    def test_a_proof_is_on_file(self):
        proof = self.folder / "proof.pgc"
        certificate = pg_codegen.verify(DIGITS, ROBUST, proof=proof).certificate
        self.assertEqual((certificate.file, certificate.bytes), (proof, proof.stat().st_size))

    def test_mistakes_are_told_in_the_words_of_the_program(self):
        with self.assertRaisesRegex(PgCodegenError, "^cannot read missing.onnx: "):
            pg_codegen.verify("missing.onnx", ROBUST)
        with self.assertRaisesRegex(PgCodegenError, "--engine"):
            pg_codegen.verify(DIGITS, ROBUST, engine="magic")
        with self.assertRaisesRegex(PgCodegenError, "cannot read .*--help"):
            pg_codegen.verify("--help", ROBUST)
        with self.assertRaisesRegex(PgCodegenError, "cannot write"):
            pg_codegen.verify(DIGITS, ROBUST, proof=self.folder / "nowhere" / "proof.pgc")


class Robust(Folder):
    def test_an_image_from_a_file_and_as_numbers(self):
        question = {"eps": 0.01, "scale": 16, "clip": (0, 1), "timeout": 60}
        from_file = pg_codegen.robust(DIGITS, IMAGE, **question)
        pixels = [int(pixel) for pixel in IMAGE.read_text().split(",")]
        rows = [tuple(pixels[row : row + 8]) for row in range(0, 64, 8)]
        from_rows = pg_codegen.robust(DIGITS, rows, **question)
        for result in (from_file, from_rows):
            self.assertEqual(result.verdict, "unsat")
            robustness = result.report["property"]["robustness"]
            self.assertEqual((robustness["eps"], robustness["label"], robustness["clip"]), ("0.01", 3, ["0", "1"]))
        if numpy:
            array = numpy.array(rows, dtype=numpy.float32) / 16
            result = pg_codegen.robust(DIGITS, array, eps=numpy.float64(0.01), clip=(0, 1))
            self.assertEqual(result.verdict, "unsat")

    def test_a_large_distance_is_violated(self):
        result = pg_codegen.robust(DIGITS, IMAGE, eps=Decimal("0.3"), scale=16, clip=(0, 1), label=3)
        self.assertEqual(result.verdict, "sat")

    def test_numbers_that_are_too_few(self):
        with self.assertRaisesRegex(PgCodegenError, "64 inputs"):
            pg_codegen.robust(DIGITS, [0.5] * 63, eps=0.1)


class Generate(Folder):
    def test_a_crate_for_a_device(self):
        domain = NETWORKS / "digits_domain.vnnlib"
        output = pg_codegen.generate(DIGITS, self.folder / "device", embedded=True, domain=domain, name="device")
        self.assertEqual(output, self.folder / "device")
        self.assertIn('name = "device"', (output / "Cargo.toml").read_text())

    def test_a_folder_with_other_things_is_refused(self):
        (self.folder / "thesis.tex").write_text("irreplaceable")
        with self.assertRaisesRegex(PgCodegenError, "was not generated by pg-codegen"):
            pg_codegen.generate(DIGITS, self.folder, embedded=True)


@unittest.skipUnless(os.name == "posix", "the stand-in for the program is a script")
class Program(Folder):
    """What the program may do and ours does not."""

    def stand_in(self, script):
        path = self.folder / "pg-codegen"
        path.write_text(f"#!{sys.executable}\nimport sys, time\nfrom pathlib import Path\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        patch = mock.patch.object(_program, "program", return_value=str(path))
        patch.start()
        self.addCleanup(patch.stop)

    def verified(self):
        return pg_codegen.verify(DIGITS, ROBUST)

    def test_a_verdict_without_a_report_is_none(self):
        self.stand_in("print('unsat')")
        with self.assertRaisesRegex(PgCodegenError, "cannot be read"):
            self.verified()

    def test_a_crash_is_no_verdict(self):
        self.stand_in("import os; os.kill(os.getpid(), 9)")
        with self.assertRaisesRegex(PgCodegenError, "ended by signal 9"):
            self.verified()
        self.stand_in("print('a panic', file=sys.stderr); sys.exit(101)")
        with self.assertRaisesRegex(PgCodegenError, "exited with 101 and gave no answer\na panic"):
            self.verified()

    def test_a_report_that_contradicts_the_exit_code_is_refused(self):
        report = {"verdict": "unsat", "times": {"total": 1.0}, "witness": None, "certificate": None}
        report = {**report, "reason": None, "counters": {}}
        write = "Path(sys.argv[-1].removeprefix('--json=')).write_text"
        self.stand_in(f"import json\n{write}(json.dumps({report}))\nsys.exit(1)")
        with self.assertRaisesRegex(PgCodegenError, "reports unsat and exited with 1"):
            self.verified()

    def test_an_interrupt_ends_the_program(self):
        self.stand_in("Path(sys.argv[0] + '.pid').write_text(str(__import__('os').getpid())); time.sleep(60)")
        pid = self.folder / "pg-codegen.pid"

        def interrupt():
            while not (pid.exists() and pid.read_text()):
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt, daemon=True).start()
        with self.assertRaises(KeyboardInterrupt):
            self.verified()
        with self.assertRaises(ProcessLookupError):
            os.kill(int(pid.read_text()), 0)

    def test_no_program_is_said(self):
        with mock.patch.object(_program.shutil, "which", return_value=None):
            with self.assertRaisesRegex(PgCodegenError, "there is no pg-codegen"):
                self.verified()


if __name__ == "__main__":
    unittest.main()
