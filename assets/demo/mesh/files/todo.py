"""A to-do list for the command line: add TEXT, list, done NUMBER, remove NUMBER."""

import argparse
import sys
from pathlib import Path

import todo_list
from todo_store import load, save


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="todo", description=__doc__)
    parser.add_argument("--file", type=Path, default=Path("todo.json"), help="where tasks are kept")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("add", help="add a task").add_argument("text", nargs="+")
    commands.add_parser("list", help="show all tasks")
    commands.add_parser("done", help="mark a task as done").add_argument("number", type=int)
    commands.add_parser("remove", help="remove a task").add_argument("number", type=int)
    return parser.parse_args()


def main() -> int:
    wanted = arguments()
    tasks = load(wanted.file)
    try:
        if wanted.command == "add":
            print(f"added task {todo_list.add(tasks, ' '.join(wanted.text))}")
        elif wanted.command == "done":
            todo_list.mark_done(tasks, wanted.number)
            print(f"task {wanted.number} is done")
        elif wanted.command == "remove":
            print(f"removed: {todo_list.remove(tasks, wanted.number).text}")
        else:
            print("\n".join(todo_list.lines(tasks)) or "no tasks")
            return 0
    except ValueError as error:
        print(f"todo: {error}", file=sys.stderr)
        return 1
    save(wanted.file, tasks)
    return 0


if __name__ == "__main__":
    sys.exit(main())
