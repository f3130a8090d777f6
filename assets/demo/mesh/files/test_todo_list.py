import unittest

from todo_list import add, lines, mark_done, remove


class ListTest(unittest.TestCase):
    def setUp(self):
        self.tasks = []
        for text in ["buy milk", "call home", "water plants"]:
            add(self.tasks, text)

    def test_tasks_are_listed_with_number_and_state(self):
        mark_done(self.tasks, 2)
        self.assertEqual(lines(self.tasks)[:2], ["1. [ ] buy milk", "2. [x] call home"])

    def test_the_task_of_that_number_is_removed(self):
        self.assertEqual(remove(self.tasks, 1).text, "buy milk")
        self.assertEqual(lines(self.tasks), ["1. [ ] call home", "2. [ ] water plants"])

    def test_the_last_task_can_be_removed(self):
        self.assertEqual(remove(self.tasks, 3).text, "water plants")

    def test_numbers_that_do_not_exist_are_refused(self):
        for number in (0, 4, -1):
            with self.assertRaises(ValueError):
                mark_done(self.tasks, number)

    def test_a_task_needs_words(self):
        with self.assertRaises(ValueError):
            add(self.tasks, "  ")


if __name__ == "__main__":
    unittest.main()
