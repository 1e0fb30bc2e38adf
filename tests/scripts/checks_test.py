#!/usr/bin/env python3
"""Each check of scripts/ accepts a small good tree, and names file and line of every kind of fault put into it."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"

GOOD = {
    "src/LAYERS": "# folder level\nbase 0\nmodels 1\ncli 2 base,ft\n",
    "src/base/a.h": '#include <vector>\n\nint sum(int a, int b);\n',
    "src/models/m.cpp": '#include "base/a.h"\n#include "ft/engine.h"\nint build_old_moe();\n',
    "src/models/registry.cpp": 'rows = {{\n  {"old_moe", "OldMoeForCausalLM", build_old_moe},\n}};\n',
    "src/cli/main.cpp": '#include "base/a.h"\n#include <nlohmann/json.hpp>\n',
}


class Checks(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        for name, text in GOOD.items():
            self.write(name, text)
        subprocess.run(["git", "init", "-q"], cwd=self.root, check=True)

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def check(self, name, *arguments):
        command = [sys.executable, SCRIPTS / f"check_{name}.py", *(arguments or [self.root])]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def expect_good(self, name):
        status, text = self.check(name)
        self.assertEqual(status, 0, text)

    def expect_fault(self, name, file, text, message):
        self.write(file, text)
        status, output = self.check(name)
        self.assertEqual(status, 1)
        self.assertIn(message, output)

    def test_good_tree(self):
        for name in ("layers", "sizes", "words"):
            with self.subTest(name):
                self.expect_good(name)

    def test_upward_include(self):
        self.expect_fault("layers", "src/base/b.h", '\n#include "models/m.h"\n', "src/base/b.h:2: base (level 0)")

    def test_closed_list(self):
        self.expect_fault("layers", "src/cli/b.cpp", '#include "models/m.h"\n', "src/cli/b.cpp:1: cli may include only")

    def test_cuda_outside_its_folder(self):
        self.expect_fault("layers", "src/base/b.cpp", "#include <cuda_runtime.h>\n", "only a cuda/ folder")
        self.expect_fault("layers", "src/base/b.cpp", "#ifdef FT_CUDA\n#endif\n", "no #if about CUDA")

    def test_json_in_a_header(self):
        self.expect_fault("layers", "src/base/b.h", "#include <nlohmann/json.hpp>\n", "in .cpp files only")

    def test_relative_include(self):
        self.expect_fault("layers", "src/base/b.cpp", '#include "../models/m.h"\n', "src/base/b.cpp:1: write")

    def test_gate_that_looks_inside(self):
        self.expect_fault("layers", "include/ft/g.h", '#include "base/b.h"\n', "include/ft/g.h:1: the gate may include")

    def test_folder_without_a_row(self):
        self.expect_fault("layers", "src/extra/b.h", "int x;\n", "folder extra has no row")

    def test_long_file(self):
        self.write("src/base/b.cpp", "\n" * 600)
        self.expect_good("sizes")
        self.expect_fault("sizes", "src/base/b.cpp", "\n" * 601, "src/base/b.cpp: 601 lines")

    def test_long_function(self):
        self.write("src/base/b.inl", "void f() {\n" + "  g();\n" * 78 + "}\n")
        self.expect_good("sizes")
        self.expect_fault("sizes", "src/base/b.inl", "void f() {\n" + "  g();\n" * 79 + "}\n", "f() has 81 lines")

    def test_many_parameters(self):
        six = "int a, std::map<int, int> b, int c, int d, int e, int f"
        self.write("src/base/b.cpp", f"void f({six}) {{}}\n")
        self.expect_good("sizes")
        self.expect_fault("sizes", "src/base/b.cpp", f"\nvoid f({six}, int g) {{}}\n", "b.cpp:2: f() has 7 parameters")

    def test_architecture_outside_models(self):
        self.write("src/models/n.cpp", "// as old_moe does\n")
        self.expect_good("words")
        self.expect_fault("words", "src/base/b.h", "\n// as old_moe does\n", "src/base/b.h:2: 'old_moe'")

    def test_architectures_not_found(self):
        self.expect_fault("words", "src/models/registry.cpp", "rows\n", "was it rewritten?")

    def test_unfinished_work_and_machine_paths(self):
        self.write("README.md", "see https://example.org/wor" "k and ./wor" "k/x\n")
        self.expect_good("words")
        self.expect_fault("words", "README.md", "// TO" "DO later\n", "README.md:1")
        self.expect_fault("words", "README.md", "in /wor" "k/main\n", "a path of one machine")

    def check_unit(self, source, name="avx2"):
        unit = self.root / f"src/kernels/cpu/isa_{name}.cpp"
        self.write(f"src/kernels/cpu/isa_{name}.cpp", source)
        subprocess.run(["c++", "-c", unit, "-o", self.root / "unit.o"], check=True)
        entry = {"directory": str(self.root), "file": str(unit), "command": f"c++ -c {unit} -o unit.o"}
        self.write("compile_commands.json", json.dumps([entry]))
        return self.check("symbols", self.root)

    def test_symbols(self):
        good = "namespace ft::cpu_avx2 { namespace { int g() { return 1; } } int f() { return g(); } }\n"
        self.assertEqual(self.check_unit(good)[0], 0)
        status, text = self.check_unit("inline int shared() { return 1; }\n" + good.replace("g()", "shared()", 1)
                                       .replace("return g()", "return ::shared()"))
        self.assertEqual(status, 1)
        self.assertIn("W shared()", text)
        self.assertEqual(self.check_unit(good, "scalar")[0], 1)  # another set's namespace

    def test_symbols_without_units(self):
        self.write("compile_commands.json", "[]")
        self.assertEqual(self.check("symbols", self.root)[0], 1)


if __name__ == "__main__":
    unittest.main()
