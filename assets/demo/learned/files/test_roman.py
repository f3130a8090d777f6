import unittest

from roman import to_roman


class Roman(unittest.TestCase):
    def test_signs_are_added(self):
        self.assertEqual(to_roman(7), "VII")

    def test_a_smaller_sign_before_a_larger_one_is_subtracted(self):
        self.assertEqual(to_roman(1994), "MCMXCIV")

    def test_what_has_no_numeral_is_refused(self):
        for number in (0, -1, 4000):
            with self.assertRaises(ValueError):
                to_roman(number)
