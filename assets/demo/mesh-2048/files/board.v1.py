"""The board of 2048: rows of numbers, 0 is an empty field."""

SIZE = 4

Board = list[list[int]]


def slide_left(row: list[int]) -> tuple[list[int], int]:
    """Moves a row to the left and merges equal neighbours; each number merges once."""
    result: list[int] = []
    points = 0
    for number in row:
        if not number:
            continue
        if result and result[-1] == number:
            result[-1] = number * 2
            points += number * 2
        else:
            result.append(number)
        if len(result) > 1 and result[-1] == result[-2]:
            result[-2:] = [result[-1] * 2]
    return result + [0] * (len(row) - len(result)), points


def turn(board: Board) -> Board:
    """Rows become columns."""
    return [list(column) for column in zip(*board)]


def flip(board: Board) -> Board:
    return [row[::-1] for row in board]


def move(board: Board, direction: str) -> tuple[Board, int]:
    """The board after a move, and the points for it; `direction` is left, right, up or down."""
    if direction not in ("left", "right", "up", "down"):
        raise ValueError(f"there is no direction {direction!r}")
    is_vertical = direction in ("up", "down")
    is_reverse = direction in ("right", "down")
    work = turn(board) if is_vertical else board
    work = flip(work) if is_reverse else work
    moved = [slide_left(row) for row in work]
    result = [row for row, _ in moved]
    result = flip(result) if is_reverse else result
    result = turn(result) if is_vertical else result
    return result, sum(points for _, points in moved)
