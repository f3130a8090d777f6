"""The tasks that the server keeps, by their numbers."""


class UnknownTask(KeyError):
    """There is no task of that number."""


class BadTask(ValueError):
    """What was given is no task."""


class TaskStore:
    def __init__(self) -> None:
        self._tasks: dict[int, dict] = {}
        self._last = 0

    def all(self) -> list[dict]:
        return list(self._tasks.values())

    def get(self, number: int) -> dict:
        if number not in self._tasks:
            raise UnknownTask(f"there is no task {number}")
        return self._tasks[number]

    def add(self, fields: object) -> dict:
        self._last += 1
        task = {"id": self._last, "done": False, **checked(fields)}
        if "title" not in task:
            self._last -= 1
            raise BadTask("title is missing")
        self._tasks[task["id"]] = task
        return task

    def change(self, number: int, fields: object) -> dict:
        task = self.get(number)
        task.update(checked(fields))
        return task

    def remove(self, number: int) -> None:
        self.get(number)
        del self._tasks[number]


def checked(fields: object) -> dict:
    """The fields if they are those of a task."""
    if not isinstance(fields, dict):
        raise BadTask("a task is an object")
    unknown = set(fields) - {"title", "done"}
    if unknown:
        raise BadTask(f"unknown field: {', '.join(sorted(unknown))}")
    title = fields.get("title", "-")
    if not isinstance(title, str) or not title.strip():
        raise BadTask("title has to be a text")
    if not isinstance(fields.get("done", False), bool):
        raise BadTask("done has to be true or false")
    return fields
