"""2048 in the terminal: w, a, s, d move, q quits; one key on each line."""

import argparse

from game import Game

KEYS = {"w": "up", "a": "left", "s": "down", "d": "right"}


def shown(game: Game) -> str:
    rows = [" ".join(f"{number or '.':>5}" for number in row) for row in game.board]
    return "\n".join(rows + [f"score: {game.score}"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, help="the same seed is the same game")
    game = Game(parser.parse_args().seed)
    print(shown(game))
    while not (game.is_won() or game.is_over()):
        key = input("> ").strip().lower()
        if key == "q":
            break
        if key not in KEYS:
            print("w, a, s or d moves, q quits")
            continue
        if not game.play(KEYS[key]):
            print("nothing moves that way")
        print(shown(game))
    if game.is_won():
        print("you have won")
    elif game.is_over():
        print("no move is left")


if __name__ == "__main__":
    main()
