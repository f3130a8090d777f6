import unittest

from program import calculate


class Calculator(unittest.TestCase):
    def test_operations(self):
        self.assertEqual(calculate(7, "+", 2), 9)
        self.assertEqual(calculate(7, "-", 2), 5)
        self.assertEqual(calculate(7, "*", 2), 14)

    def test_division(self):
        self.assertEqual(calculate(7, "/", 2), 3)

    def test_division_by_zero(self):
        with self.assertRaises(ValueError):
            calculate(1, "/", 0)

    def test_unknown_operation(self):
        with self.assertRaises(ValueError):
            calculate(1, "%", 2)
