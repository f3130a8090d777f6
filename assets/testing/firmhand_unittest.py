"""Runs tests with unittest, which is there with every Python, and reports each by firmhand_report."""

import importlib.util
import os
import sys
import time
import traceback
import unittest

import firmhand_report as report


def place(test):
    method = getattr(test, getattr(test, "_testMethodName", ""), None)
    code = getattr(getattr(method, "__func__", method), "__code__", None)
    if code is None:
        return None, None
    return code.co_filename, code.co_firstlineno


class Result(unittest.TestResult):
    def startTest(self, test):
        super().startTest(test)
        self.begun, self.outcome = time.perf_counter(), ("passed", "", "", place(test))
        file, line = place(test)
        report.write(event="start", name=test.id(), file=file, line=line)

    def stopTest(self, test):
        super().stopTest(test)
        self.end(test.id(), time.perf_counter() - self.begun)

    def end(self, name, seconds):
        outcome, message, output, (file, line) = self.outcome
        report.write(event="end", name=name, outcome=outcome, seconds=seconds,
                     message=report.short(message), output=report.short(output), file=file, line=line)

    def wrong(self, outcome, test, error):
        kind, value, trace = error
        frames = traceback.extract_tb(trace)
        own = [frame for frame in frames if "unittest" not in frame.filename.split(os.sep)]
        at = (own[-1].filename, own[-1].lineno) if own else place(test)
        lines = traceback.format_exception_only(kind, value)
        text = "".join(traceback.format_exception(kind, value, trace))
        self.outcome = (outcome, lines[-1].strip() if lines else "", text, at)
        if isinstance(test, unittest.suite._ErrorHolder):
            self.end(test.id(), 0.0)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.wrong("failed", test, err)

    def addError(self, test, err):
        super().addError(test, err)
        self.wrong("error", test, err)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.outcome = ("skipped", reason, "", place(test))

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.outcome = ("skipped", "expected failure", "", place(test))

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.outcome = ("failed", "it passed, which was not expected", "", place(test))

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            kind = "failed" if issubclass(err[0], test.failureException) else "error"
            self.wrong(kind, test, err)


def load(path):
    """The tests of one file; a file that does not load is one test with an error."""
    folder, name = os.path.split(os.path.abspath(path))
    for entry in (folder, os.getcwd()):
        if entry not in sys.path:
            sys.path.insert(0, entry)
    name = os.path.splitext(name)[0]
    try:
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return unittest.defaultTestLoader.loadTestsFromModule(module)
    except unittest.SkipTest as skip:
        report.write(event="end", name=path, outcome="skipped", seconds=0.0, message=str(skip),
                     output="", file=path, line=1)
    except BaseException as error:
        frames = [f for f in traceback.extract_tb(error.__traceback__) if os.path.exists(f.filename)]
        last = frames[-1] if frames else None
        line = getattr(error, "lineno", None) or (last.lineno if last else 1)
        file = getattr(error, "filename", None) or (last.filename if last else path)
        report.write(event="end", name=path, outcome="error", seconds=0.0,
                     message="%s: %s" % (type(error).__name__, error),
                     output=report.short(traceback.format_exc()), file=file, line=line)
    return unittest.TestSuite()


def main(paths):
    result = Result()
    for path in paths:
        load(path).run(result)
    report.write(event="done", exit=0 if result.wasSuccessful() else 1)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
