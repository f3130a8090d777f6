import unittest

from program import is_leap


class LeapYear(unittest.TestCase):
    def test_fourths(self):
        self.assertTrue(is_leap(2024))
        self.assertFalse(is_leap(2023))

    def test_hundreds(self):
        self.assertFalse(is_leap(1900))
        self.assertTrue(is_leap(2000))

    def test_how_many(self):
        self.assertEqual(sum(is_leap(year) for year in range(1600, 2000)), 97)
