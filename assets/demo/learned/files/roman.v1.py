"""Roman numerals."""

SIGNS = [(1000, "M"), (500, "D"), (100, "C"), (50, "L"), (10, "X"), (5, "V"), (1, "I")]


def to_roman(number):
    """The Roman numeral of a whole number from 1 to 3999."""
    if not 1 <= number <= 3999:
        raise ValueError(f"{number} is not between 1 and 3999")
    text = ""
    for value, sign in SIGNS:
        while number >= value:
            text += sign
            number -= value
    return text
