import unittest

from task_store import BadTask, TaskStore, UnknownTask


class TaskStoreTest(unittest.TestCase):
    def setUp(self):
        self.store = TaskStore()

    def test_a_task_gets_a_number(self):
        self.assertEqual(self.store.add({"title": "a"}), {"id": 1, "title": "a", "done": False})
        self.assertEqual(self.store.add({"title": "b"})["id"], 2)

    def test_numbers_are_not_used_again(self):
        self.store.add({"title": "a"})
        self.store.remove(1)
        self.assertEqual(self.store.add({"title": "b"})["id"], 2)

    def test_a_change_keeps_the_other_fields(self):
        self.store.add({"title": "a"})
        self.assertEqual(self.store.change(1, {"done": True})["title"], "a")

    def test_what_is_no_task_is_refused_and_nothing_is_kept(self):
        for wrong in ([], {}, {"title": ""}, {"title": 3}, {"title": "a", "done": 1}, {"x": 1}):
            with self.assertRaises(BadTask, msg=str(wrong)):
                self.store.add(wrong)
        self.assertEqual(self.store.all(), [])

    def test_an_unknown_number_is_told(self):
        for call in (self.store.get, self.store.remove):
            with self.assertRaises(UnknownTask):
                call(7)


if __name__ == "__main__":
    unittest.main()
