"""Keeps the tasks of a to-do list in a JSON file."""

import json
import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass
class Task:
    text: str
    done: bool = False


def load(path: Path) -> list[Task]:
    """The tasks of the file; none when it does not exist yet."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    return [Task(entry["text"], entry["done"]) for entry in entries]


def save(path: Path, tasks: list[Task]) -> None:
    """Writes all tasks; the old file stays whole until the new one is."""
    text = json.dumps([asdict(task) for task in tasks], indent=2, ensure_ascii=False)
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".new")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text + "\n")
    os.replace(name, path)
