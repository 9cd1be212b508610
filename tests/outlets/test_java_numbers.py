import pytest

from hmstats.outlets.java_numbers import double_text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (0.001, "0.001"),
        (0.0009999, "9.999E-4"),
        (1234567.0, "1234567.0"),
        (1e7, "1.0E7"),
        (-1.5e10, "-1.5E10"),
        (123456789.125, "1.23456789125E8"),
        (5e-324, "5.0E-324"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
    ],
)
def test_doubles_are_written_as_java_writes_them(number: float, text: str) -> None:
    assert double_text(repr(number)) == text
