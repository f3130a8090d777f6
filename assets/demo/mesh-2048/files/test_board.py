import unittest

from board import move, slide_left


class SlideTest(unittest.TestCase):
    def test_numbers_move_to_the_edge(self):
        self.assertEqual(slide_left([0, 2, 0, 4]), ([2, 4, 0, 0], 0))

    def test_equal_neighbours_merge_over_empty_fields(self):
        self.assertEqual(slide_left([2, 0, 0, 2]), ([4, 0, 0, 0], 4))

    def test_a_merged_number_does_not_merge_again(self):
        self.assertEqual(slide_left([2, 2, 4, 0]), ([4, 4, 0, 0], 4))

    def test_four_equal_numbers_are_two_pairs(self):
        self.assertEqual(slide_left([2, 2, 2, 2]), ([4, 4, 0, 0], 8))


class MoveTest(unittest.TestCase):
    BOARD = [[2, 0, 0, 0], [2, 0, 0, 0], [0, 0, 0, 4], [0, 0, 0, 4]]

    def test_every_direction(self):
        up = [[4, 0, 0, 8], [0] * 4, [0] * 4, [0] * 4]
        self.assertEqual(move(self.BOARD, "up"), (up, 12))
        self.assertEqual(move(self.BOARD, "down"), (up[::-1], 12))
        right = [[0, 0, 0, 2], [0, 0, 0, 2], [0, 0, 0, 4], [0, 0, 0, 4]]
        self.assertEqual(move(self.BOARD, "right"), (right, 0))
        left = [row[::-1] for row in right]
        self.assertEqual(move(self.BOARD, "left"), (left, 0))

    def test_another_direction_is_an_error(self):
        with self.assertRaises(ValueError):
            move(self.BOARD, "north")


if __name__ == "__main__":
    unittest.main()
