"""A game of 2048: new numbers, points, and its end."""

import random

from board import SIZE, Board, move

GOAL = 2048


class Game:
    def __init__(self, seed: int | None = None) -> None:
        self._random = random.Random(seed)
        self.board: Board = [[0] * SIZE for _ in range(SIZE)]
        self.score = 0
        self._add_number()
        self._add_number()

    def _add_number(self) -> None:
        empty = [(y, x) for y in range(SIZE) for x in range(SIZE) if not self.board[y][x]]
        y, x = self._random.choice(empty)
        self.board[y][x] = 4 if self._random.random() < 0.1 else 2

    def play(self, direction: str) -> bool:
        """Makes a move; `False` when it changes nothing, and then no number is added."""
        board, points = move(self.board, direction)
        if board == self.board:
            return False
        self.board = board
        self.score += points
        self._add_number()
        return True

    def is_won(self) -> bool:
        return any(number >= GOAL for row in self.board for number in row)

    def is_over(self) -> bool:
        directions = ("left", "right", "up", "down")
        return all(move(self.board, direction)[0] == self.board for direction in directions)
