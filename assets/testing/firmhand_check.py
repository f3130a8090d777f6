"""Checks programs in Python before they are run: do they parse, what do the linter and the type
checker say, are the tests collected. What is not installed is said. Writes one JSON object to the
file FIRMHAND_RESULTS."""

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
import unittest

PLACE = re.compile(r"^(?:\./)?(?P<file>[^:]+):(?P<line>\d+):(?:(?P<column>\d+):)? *(?P<message>.*)$")
steps, errors, notes = [], [], []


def wrong(step, file, line, column, message):
    errors.append({"step": step, "file": os.path.relpath(file), "line": line, "column": column,
                   "message": message})


def done(step, tool, before):
    steps.append({"step": step, "tool": tool, "ok": len(errors) == before})


def missing(step, names, install):
    note = "%s not installed, so this was not checked; to have it: `python3 -m pip install %s`" % (
        names, install)
    steps.append({"step": step, "ok": None, "note": note})


def is_there(name):
    return importlib.util.find_spec(name) is not None


def run(arguments):
    done = subprocess.run([sys.executable, "-m"] + arguments, capture_output=True, text=True, timeout=100)
    return done.returncode, done.stdout + done.stderr


def parse(paths):
    before = len(errors)
    trees = {}
    for path in paths:
        try:
            with open(path, "rb") as file:
                trees[path] = ast.parse(file.read(), path)
        except (SyntaxError, ValueError) as error:
            wrong("parse", path, getattr(error, "lineno", None) or 1,
                  getattr(error, "offset", None) or 1, getattr(error, "msg", None) or str(error))
    done("parse", "ast of Python %d.%d" % sys.version_info[:2], before)
    return trees


def report(step, tool, arguments, is_error):
    before = len(errors)
    code, output = run([tool] + arguments)
    for line in output.splitlines():
        place = PLACE.match(line)
        if place and is_error(place["message"]):
            wrong(step, place["file"], int(place["line"]), int(place["column"] or 1), place["message"])
    if code > 1 or (code == 1 and len(errors) == before and not output.strip()):
        last = (output.strip().splitlines() or ["no words"])[-1]
        steps.append({"step": step, "tool": tool, "ok": None, "note": "it did not run: " + last})
    else:
        done(step, tool, before)


def lint(paths):
    # What is wrong, not what is a matter of taste.
    if is_there("flake8"):
        report("lint", "flake8", ["--isolated", "--select=E9,F", *paths], lambda _: True)
    elif is_there("ruff"):
        report("lint", "ruff", ["check", "--isolated", "--no-cache", "--select=E9,F",
                                "--output-format=concise", *paths], lambda _: True)
    else:
        missing("lint", "flake8 and ruff are", "flake8")


def types(paths):
    if is_there("mypy"):
        cache = os.path.join(os.environ.get("TMPDIR", "."), "mypy")
        report("types", "mypy", ["--no-error-summary", "--no-color-output", "--show-column-numbers",
                                 "--ignore-missing-imports", "--cache-dir=" + cache, *paths],
               lambda message: message.startswith("error:"))
    else:
        missing("types", "mypy is", "mypy")


def asserts(function):
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name.lower().startswith(("assert", "fail", "raises", "check", "expect")):
                return True
    return False


def silent(path, tree):
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test"):
            if not asserts(node):
                notes.append("%s:%d: the test `%s` asserts nothing" % (path, node.lineno, node.name))


def collect(paths):
    before = len(errors)
    if is_there("pytest"):
        code, output = run(["pytest", "--collect-only", "-q", "--color=no", "-p", "no:cacheprovider",
                            "--rootdir=.", *paths])
        if code == 5:
            wrong("collect", paths[0], 1, 1, "pytest finds no test")
        elif code != 0:
            lines = [line[2:].strip() for line in output.splitlines() if line.startswith("E ")]
            wrong("collect", paths[0], 1, 1, (lines or output.strip().splitlines() or ["?"])[-1])
        done("collect", "pytest", before)
        return
    sys.path.insert(0, os.getcwd())
    for path in paths:
        sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
        name = os.path.splitext(os.path.basename(path))[0]
        try:
            spec = importlib.util.spec_from_file_location(name, path)
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            spec.loader.exec_module(module)
            if unittest.defaultTestLoader.loadTestsFromModule(module).countTestCases() == 0:
                wrong("collect", path, 1, 1, "there is no test in it that unittest runs; pytest is not "
                      "installed, so write methods of a unittest.TestCase")
        except BaseException as error:
            wrong("collect", path, getattr(error, "lineno", None) or 1, 1,
                  "%s: %s" % (type(error).__name__, error))
    done("collect", "unittest", before)


def main(paths):
    trees = parse(paths)
    if not errors:
        lint(paths)
        types(paths)
    tests = [path for path in paths if re.match(r"test_.*\.py$|.*_test\.py$", os.path.basename(path))]
    for path in tests:
        if path in trees:
            silent(path, trees[path])
    if tests and not errors:
        collect(tests)


if __name__ == "__main__":
    main(sys.argv[1:])
    with open(os.environ["FIRMHAND_RESULTS"], "w", encoding="utf-8") as file:
        json.dump({"steps": steps, "errors": errors, "notes": notes}, file)
