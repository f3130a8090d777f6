import unittest

from program import factorial


class Factorial(unittest.TestCase):
    def test_edges(self):
        self.assertEqual(factorial(0), 1)
        self.assertEqual(factorial(1), 1)

    def test_values(self):
        self.assertEqual(factorial(5), 120)
        self.assertEqual(factorial(10), 3628800)

    def test_each_follows_from_the_one_before(self):
        for n in range(12):
            self.assertEqual(factorial(n + 1), (n + 1) * factorial(n))
