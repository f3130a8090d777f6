import tempfile
import unittest
from pathlib import Path

from todo_store import Task, load, save


class StoreTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "todo.json"

    def test_there_are_no_tasks_before_the_first_one(self):
        self.assertEqual(load(self.path), [])

    def test_tasks_are_there_again_after_a_restart(self):
        tasks = [Task("buy milk"), Task("call Zoë", done=True)]
        save(self.path, tasks)
        self.assertEqual(load(self.path), tasks)


if __name__ == "__main__":
    unittest.main()
