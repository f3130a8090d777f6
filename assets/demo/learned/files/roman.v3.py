"""Roman numerals."""

SIGNS = [
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"),
    (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
]


def to_roman(number):
    """The Roman numeral of a whole number from 1 to 3999, e.g. MCMXCIV for 1994."""
    if not 1 <= number <= 3999:
        raise ValueError(f"{number} is not between 1 and 3999")
    text = ""
    for value, sign in SIGNS:
        while number >= value:
            text += sign
            number -= value
    return text
