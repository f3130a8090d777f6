"""Writes a line of JSON for each test, as it begins and as it ends, to the file that FIRMHAND_RESULTS
names. A plugin of pytest, and what the runner of unittest beside it writes with."""

import json
import os
import re

MOST_OUTPUT = 8192
_file = None


def write(**fields):
    global _file
    if _file is None:
        _file = open(os.environ["FIRMHAND_RESULTS"], "a", encoding="utf-8", errors="backslashreplace")
    _file.write(json.dumps(fields) + "\n")
    _file.flush()


def short(text):
    text = str(text)
    return text if len(text) <= MOST_OUTPUT else text[:MOST_OUTPUT] + "\n... (cut)"


_places = {}
_state = {}


def pytest_itemcollected(item):
    file, line, _ = item.location
    _places[item.nodeid] = (file, (line or 0) + 1)


def pytest_runtest_logstart(nodeid, location):
    file, line = _places.get(nodeid, (location[0], (location[1] or 0) + 1))
    _state[nodeid] = {"seconds": 0.0, "outcome": "passed", "message": "", "output": "",
                      "file": file, "line": line}
    write(event="start", name=nodeid, file=file, line=line)


def _crash(report):
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is None:
        if isinstance(report.longrepr, tuple):
            return None, None, str(report.longrepr[2])
        text = str(report.longrepr).strip()
        places = re.findall(r'File "([^"<>]+)", line (\d+)', text)
        path, line = places[-1] if places else (None, None)
        lines = text.splitlines()
        message = lines[-1].removeprefix("E").strip() if lines else ""
        return path, int(line) if line else None, message
    path, line = _own_place(report) or (crash.path, crash.lineno)
    return path, line, crash.message


def _own_place(report):
    """The innermost place in a file of the project: what it calls may have failed."""
    traceback = getattr(report.longrepr, "reprtraceback", None)
    for entry in reversed(getattr(traceback, "reprentries", [])):
        place = getattr(entry, "reprfileloc", None)
        path = os.path.abspath(place.path) if place else ""
        if path.startswith(os.getcwd() + os.sep):
            return path, place.lineno
    return None


def pytest_runtest_logreport(report):
    state = _state.setdefault(report.nodeid, {"seconds": 0.0, "outcome": "passed", "message": "",
                                              "output": "", "file": None, "line": None})
    state["seconds"] += getattr(report, "duration", 0.0)
    if report.failed:
        state["outcome"] = "failed" if report.when == "call" else "error"
        path, line, message = _crash(report)
        state["message"] = message
        if path:
            state["file"], state["line"] = path, line
        text = report.longreprtext
        for title, content in report.sections:
            text += "\n--- %s ---\n%s" % (title, content)
        state["output"] += text
    elif report.skipped:
        state["outcome"] = "skipped"
        state["message"] = getattr(report, "wasxfail", "") or _crash(report)[2]
    elif report.when == "call":
        state["output"] += "".join(content for _, content in report.sections)
    if report.when == "teardown":
        _state.pop(report.nodeid, None)
        write(event="end", name=report.nodeid, outcome=state["outcome"],
              seconds=state["seconds"], message=short(state["message"]),
              output=short(state["output"]), file=state["file"], line=state["line"])


def pytest_collectreport(report):
    if report.failed:
        path, line, message = _crash(report)
        write(event="end", name=report.nodeid or "collection", outcome="error", seconds=0.0,
              message=short(message), output=short(report.longreprtext),
              file=path or str(report.fspath or "") or None, line=line)


def pytest_sessionfinish(session, exitstatus):
    write(event="done", exit=int(exitstatus))
