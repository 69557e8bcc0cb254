#!/usr/bin/env python3
"""scripts/check_layers.py refuses circles of folders: check_layers_test.py SCRIPTS_FOLDER. Exit status 0: passed."""
import contextlib
import importlib.util
import io
import pathlib
import sys
import tempfile

SCRIPT = pathlib.Path(sys.argv[1]).resolve() / "check_layers.py"


def check(layers, files, lists=None):
    """Status and output for a project of these files, path -> headers that it includes, and these lists of sources, path -> text."""
    spec = importlib.util.spec_from_file_location("check_layers", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    with tempfile.TemporaryDirectory() as folder:
        script.ROOT = pathlib.Path(folder)
        for path, included in {"cmake/layers.txt": None, **files}.items():
            file = script.ROOT / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(layers if included is None else "".join(f'#include "{name}"\n' for name in included))
        for path, text in (lists or {}).items():
            (script.ROOT / path).parent.mkdir(parents=True, exist_ok=True)
            (script.ROOT / path).write_text(text)
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = script.main([])
    return status, output.getvalue()


def test_a_folder_and_its_subfolder():
    status, output = check("cli : :\n", {"cli/a.h": [], "cli/main.cc": ["cli/commands/b.h"], "cli/commands/b.h": ["cli/a.h"]})
    assert status == 1 and "circle of folders cli -> cli/commands -> cli" in output, output
    assert "cli/main.cc includes cli/commands/b.h; cli/commands/b.h includes cli/a.h" in output, output


def test_through_folders_of_other_modules():
    layers = "low : :\nhigh : low :\nlow/launch : high :\n"
    status, output = check(layers, {"low/x/a.h": ["low/x/launch/c.h"], "low/x/launch/c.h": ["high/b.h"], "high/b.h": ["low/x/d.h"], "low/x/d.h": []})
    assert status == 1 and "circle of folders high -> low/x -> low/x/launch -> high" in output, output


def test_outside_the_modules():
    status, output = check("cli : :\n", {"cli/a.h": [], "tests/a.h": ["tests/b/c.h"], "tests/b/c.h": ["tests/d.h"], "tests/d.h": []})
    assert status == 1 and "circle of folders tests -> tests/b -> tests" in output, output


def test_a_generated_header():
    status, output = check("cli : :\n", {"cli/main.cc": ["cli/commands/a.h"], "cli/commands/a.h": ["cli/version.h"]})
    assert status == 1 and "circle of folders cli -> cli/commands -> cli" in output, output


def test_no_circle():
    files = {"cli/a.h": [], "cli/b.cc": ["cli/a.h", "cli/x/c.h", "elsewhere.h"], "cli/x/c.h": ["cli/x/y/d.h"], "cli/x/y/d.h": []}
    status, output = check("cli : :\n", files)
    assert status == 0 and "circle" not in output, output


def test_a_test_that_no_list_names():
    files = {"cli/a.h": [], "tests/cli/a_test.cc": [], "tests/cli/x/b_test.cc": []}
    status, output = check("cli : :\n", files, {"tests/CMakeLists.txt": "", "tests/cli/CMakeLists.txt": "headway_test(cli\n  SOURCES a_test.cc)\n"})
    assert status == 1 and "tests/cli/x/b_test.cc: no CMakeLists.txt names it" in output and "a_test.cc: no" not in output, output
    status, output = check("cli : :\n", files, {"tests/cli/CMakeLists.txt": "headway_sources(all *_test.cc x/*_test.cc)\n"})
    assert status == 0, output


def test_an_include_that_the_list_does_not_allow():
    status, output = check("low : :\nhigh : low :\n", {"low/a.h": ["high/b.h"], "high/b.h": []})
    assert status == 1 and "low may only use: nothing" in output, output


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
