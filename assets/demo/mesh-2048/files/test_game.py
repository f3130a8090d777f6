import unittest

from game import Game


class GameTest(unittest.TestCase):
    def test_a_game_begins_with_two_numbers(self):
        numbers = [number for row in Game(1).board for number in row if number]
        self.assertEqual(len(numbers), 2)
        self.assertTrue(set(numbers) <= {2, 4})

    def test_the_same_seed_is_the_same_game(self):
        self.assertEqual(Game(7).board, Game(7).board)

    def test_a_move_that_changes_nothing_adds_no_number(self):
        game = Game(1)
        game.board = [[2, 4, 0, 0]] + [[0] * 4 for _ in range(3)]
        self.assertFalse(game.play("left"))
        self.assertEqual(sum(map(sum, game.board)), 6)

    def test_a_move_that_merges_counts_and_adds_a_number(self):
        game = Game(1)
        game.board = [[2, 2, 0, 0]] + [[0] * 4 for _ in range(3)]
        self.assertTrue(game.play("left"))
        self.assertEqual(game.score, 4)
        self.assertEqual(sum(1 for row in game.board for number in row if number), 2)

    def test_a_full_board_without_pairs_is_the_end(self):
        game = Game(1)
        game.board = [[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]]
        self.assertTrue(game.is_over())
        game.board[0][0] = 4
        self.assertFalse(game.is_over())

    def test_2048_wins(self):
        game = Game(1)
        self.assertFalse(game.is_won())
        game.board[0][0] = 2048
        self.assertTrue(game.is_won())


if __name__ == "__main__":
    unittest.main()
