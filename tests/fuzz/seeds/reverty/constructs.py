def factorial(n: int) -> int:
    res: int = 1
    while n > 1:
        res = res * n
        n = n - 1
    return res


def main() -> int:
    result: int = factorial(5)
    print("5! =", result, [1, 2, (3,)], {"a": 1}["a"])
    for i in range(3):
        print(i)
    if result > 3 and not (result == 7 or -result < 2):
        print("a\\")
    elif result == 1:
        kaerb_ = 1
    else:
        print("x")
    try:
        x = 1 / 0
    except ZeroDivisionError:
        x = 2
    return result


if __name__ == "__main__":
    main()
