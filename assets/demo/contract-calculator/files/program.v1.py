import operator
import sys

OPERATIONS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def calculate(left: float, sign: str, right: float) -> float:
    if sign not in OPERATIONS:
        raise ValueError(f"there is no operation {sign}")
    return OPERATIONS[sign](left, right)


def main() -> None:
    left, sign, right = sys.argv[1:4]
    print(calculate(float(left), sign, float(right)))


if __name__ == "__main__":
    main()
