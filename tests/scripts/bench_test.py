#!/usr/bin/env python3
"""compare_bench.py judges two results as it says, and ft-bench writes what it reads: bench_test.py FT_BENCH [unittest options].
No time is judged here: small sizes, and machines that are busy."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
FT_BENCH = sys.argv.pop(1)


def spread(median):
    return {"median": median, "min": 0.9 * median, "max": 1.2 * median}


def result(name, value, share=None, more_is_better=True, isa="avx2", threads=2):
    return {"name": name, "threads": threads, "isa": isa, "unit": "GB/s", "more_is_better": more_is_better,
            "value": spread(value), "share": None if share is None else spread(share)}


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True)


class Compare(unittest.TestCase):
    def compare(self, old, new, *options):
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for name, rows in (("old", old), ("new", new)):
                files.append(pathlib.Path(folder) / name)
                files[-1].write_text(json.dumps({"results": rows}))
            done = run(sys.executable, SCRIPTS / "compare_bench.py", *files, *options)
        return done.returncode, done.stdout + done.stderr

    def expect(self, status, text, old, new, *options):
        actual, output = self.compare(old, new, *options)
        self.assertEqual(actual, status, output)
        self.assertIn(text, output)

    def test_more_is_better(self):
        self.expect(0, "0.950", [result("a", 10)], [result("a", 9.5)])
        self.expect(1, "0.850  WORSE", [result("a", 10)], [result("a", 8.5)])
        self.expect(0, "0.850", [result("a", 10)], [result("a", 8.5)], "--limit", "0.8")

    def test_less_is_better(self):
        self.expect(1, "0.500  WORSE", [result("a", 10, more_is_better=False)], [result("a", 20, more_is_better=False)])
        self.expect(0, "2.000", [result("a", 20, more_is_better=False)], [result("a", 10, more_is_better=False)])

    def test_shares_go_before_values(self):
        self.expect(0, "1.000", [result("a", 10, 0.5)], [result("a", 5, 0.5)])  # a busy machine
        self.expect(1, "0.600  WORSE", [result("a", 10, 0.5)], [result("a", 10, 0.3)])
        self.expect(1, "0.500  WORSE", [result("a", 10, 0.5)], [result("a", 5)])

    def test_one_that_is_worse_is_enough(self):
        self.expect(1, "2 cases compared, 1 below 0.9", [result("a", 1), result("b", 1)], [result("a", 2), result("b", 0.1)])

    def test_nothing_is_not_worse_than_nothing(self):
        self.expect(0, "1.000", [result("a", 0)], [result("a", 0)])

    def test_what_only_one_has_is_named(self):
        old, new = [result("a", 1), result("b", 1)], [result("a", 1), result("a", 1, threads=1)]
        self.expect(0, "only in the old one: b, 2 threads", old, new)
        self.expect(0, "only in the new one: a, 1 threads", old, new)
        self.expect(1, "no case in common", [result("a", 1)], [result("b", 1)])

    def test_sets_matter_where_there_are_several(self):
        self.expect(0, "1 cases compared", [result("a", 1)], [result("a", 1, isa="avx512")])
        several = [result("a", 1), result("a", 0.5, isa="scalar")]
        self.expect(0, "2 cases compared", several, several)
        self.expect(1, "a, 2 threads, scalar", several, [result("a", 1), result("a", 0.1, isa="scalar")])


class Bench(unittest.TestCase):
    TINY = ("--small", "--repeat", 2, "--seconds", 0)

    def bench(self, *options):
        done = run(FT_BENCH, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def names(self, *options):
        return self.bench("--list", *options).splitlines()

    def test_list_has_every_operation_and_format(self):
        names = self.names()
        self.assertEqual(len(names), len(set(names)))
        for name in ("bf16", "f16", "f32", "fp8_block", "mxfp4", "nvfp4"):
            for sizes in ("2048x768", "4096x2048", "2880x2880"):
                self.assertIn(f"experts/{name}/{sizes}/top8/rows1", names)
            self.assertIn(f"experts/{name}/2048x768/top8/rows512", names)
            self.assertIn(f"linear/{name}/4096x4096/rows1", names)
        for rows in (16, 512):
            self.assertIn(f"experts/bf16-rounded/2048x768/top8/rows{rows}", names)
            self.assertIn(f"linear/bf16-rounded/2048x2048/rows{rows}", names)
        self.assertFalse([name for name in names if "rounded" in name and name.endswith("rows1")])
        for operation in ("attention", "norm", "rope", "route", "pack", "team"):
            self.assertTrue([name for name in names if name.startswith(operation + "/")], operation)

    def test_filter(self):
        self.assertEqual(self.names("--filter", "^linear/nvfp4/.*rows1$"), ["linear/nvfp4/4096x4096/rows1"])
        for pattern, message in (("no such case", "no case has such a name"), ("(", "--filter (")):
            done = run(FT_BENCH, "--list", "--filter", pattern)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)

    def test_json(self):
        root = json.loads(self.bench("--json", "--commit", "abc", "--threads", 1, *self.TINY))
        self.assertEqual(root["commit"], "abc")
        self.assertIn("--small", root["command"])
        self.assertEqual([r["name"] for r in root["results"]], self.names("--small"))
        for r in root["results"]:
            with self.subTest(r["name"]):
                self.assertEqual(r["threads"], 1)
                value = r["value"]
                self.assertLessEqual(value["min"], value["median"])
                self.assertLessEqual(value["median"], value["max"])
                self.assertIsNone(r["ratio_to_baseline"])
                if r["unit"] == "GB/s":
                    self.assertEqual(value, r["gbps"])
                    self.assertEqual(r["share"], r["share_of_read"])
                    self.assertGreater(r["read_gbps"]["min"], 0)
                elif r["unit"] == "GFLOP/s":
                    self.assertEqual(value, r["gflops"])
                    self.assertEqual(r["share"], r["share_of_peak"])
                else:
                    self.assertFalse(r["more_is_better"])
                    self.assertIsNone(r["share"])

    def test_shares_are_those_of_the_same_repetition(self):
        options = ("--json", "--threads", 1, "--filter", "linear/bf16/.*rows1$", "--small", "--repeat", 1)
        [r] = json.loads(self.bench(*options))["results"]
        self.assertAlmostEqual(r["share"]["median"], r["gbps"]["median"] / r["read_gbps"]["median"])
        # 512 x 512 bf16 values: two bytes and one multiply-add each
        self.assertAlmostEqual(r["gflops"]["median"], r["gbps"]["median"])

    def test_baseline_and_compare(self):
        options = ("--json", "--threads", 1, "--filter", "linear/bf16", *self.TINY)
        with tempfile.TemporaryDirectory() as folder:
            old, new = pathlib.Path(folder) / "old.json", pathlib.Path(folder) / "new.json"
            old.write_text(self.bench(*options))
            new.write_text(self.bench(*options, "--baseline", old))
            shares = [{r["name"]: r["share"]["median"] for r in json.loads(f.read_text())["results"]} for f in (old, new)]
            for r in json.loads(new.read_text())["results"]:
                self.assertAlmostEqual(r["ratio_to_baseline"], shares[1][r["name"]] / shares[0][r["name"]])
            done = run(sys.executable, SCRIPTS / "compare_bench.py", old, new, "--limit", 0)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertIn(f"{len(shares[0])} cases compared", done.stdout)
            old.write_text("{}")
            done = run(FT_BENCH, *options, "--baseline", old)
            self.assertEqual(done.returncode, 2)
            self.assertIn("not a result of ft-bench", done.stderr)

    def test_table(self):
        text = self.bench("--threads", 1, "--filter", "^norm|^linear/f32/.*rows1$", *self.TINY)
        for name in self.names("--small", "--filter", "^norm|^linear/f32/.*rows1$"):
            self.assertIn(name, text)

    def test_impossible_wishes(self):
        for options, message in ((("--isa", "avx9000"), "avx9000"), (("--threads", 100000), "100000 threads"), (("--repeat", 0), "--repeat"),
                                 (("--bank-gib", 60000), "--bank-gib"),
                                 (("--filter", "experts/f32/4096", "--bank-gib", 0.1), "--bank-gib")):
            done = run(FT_BENCH, "--seconds", 0, *options)
            self.assertEqual(done.returncode, 2, options)
            self.assertIn(message, done.stderr)

    def test_one_call_of_each_case(self):
        names = [name for name in self.names("--small", "--filter", "bf16|team") if name != "team/idle second"]
        self.assertEqual(self.bench("--count", "--filter", "bf16|team").splitlines(), names)


if __name__ == "__main__":
    unittest.main()
