"""What can be done with a to-do list. Tasks are counted from 1, as they are shown."""

from todo_store import Task


def add(tasks: list[Task], text: str) -> int:
    """Adds a task and tells its number."""
    text = text.strip()
    if not text:
        raise ValueError("a task needs some words")
    tasks.append(Task(text))
    return len(tasks)


def mark_done(tasks: list[Task], number: int) -> None:
    tasks[index(tasks, number)].done = True


def remove(tasks: list[Task], number: int) -> Task:
    return tasks.pop(number)


def lines(tasks: list[Task]) -> list[str]:
    marks = {True: "x", False: " "}
    return [f"{number}. [{marks[task.done]}] {task.text}" for number, task in enumerate(tasks, 1)]


def index(tasks: list[Task], number: int) -> int:
    if not 1 <= number <= len(tasks):
        raise ValueError(f"there is no task {number}")
    return number - 1
