"""Conditions over partition keys, as Hive's planner sends them, and their evaluation.

The result is SQL's true, false, or unknown (None), for a null or a value that does not fit its key's type. Keys are
texts in a partition; each is converted to its key's type first, as Hive does.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from hmstats.errors import UnknownExpression
from hmstats.model.partitions.key_values import Moment, Value, as_type, compare_values

Answer: TypeAlias = bool | None


@dataclass(frozen=True, slots=True)
class Key:
    """The value of a partition key."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A value; None is null."""

    value: Value


@dataclass(frozen=True, slots=True)
class Call:
    """A function of other expressions. A cast's function is the type, after `cast `."""

    function: str
    arguments: tuple["PartitionExpression", ...]


PartitionExpression: TypeAlias = Key | Constant | Call

_Row: TypeAlias = Sequence[Value]
_Step: TypeAlias = Callable[[_Row], Value]

CAST = "cast "


def compile_expression(
    expression: PartitionExpression, keys: Sequence[tuple[str, str]], null_value: str
) -> Callable[[Sequence[str]], Answer]:
    """A function that evaluates the condition for a partition's values, given the table's keys with their types.

    `null_value` is how a null key is written. Raises UnknownExpression for a key or a function that is not known.
    """
    indexes = {name.lower(): index for index, (name, _) in enumerate(keys)}
    step = _step(_nulls_named(expression, null_value), indexes)
    types = [kind for _, kind in keys]
    used = sorted(set(_used_keys(expression, indexes)))
    typed: list[dict[str, Value]] = [{null_value: None} for _ in types]

    def answer(values: Sequence[str]) -> Answer:
        row: list[Value] = [None] * len(types)
        for index in used:
            text, seen = values[index], typed[index]
            if text not in seen:
                seen[text] = as_type(text, types[index])
            row[index] = seen[text]
        return _truth(step(row))

    return answer


def _used_keys(expression: PartitionExpression, indexes: dict[str, int]) -> list[int]:
    match expression:
        case Key(name):
            return [indexes[name.lower()]]
        case Call(_, arguments):
            return [index for each in arguments for index in _used_keys(each, indexes)]
        case Constant():
            return []


def _nulls_named(expression: PartitionExpression, null_value: str) -> PartitionExpression:
    """The expression with comparisons to null in place of comparisons of a key with the null value's text."""
    match expression:
        case Call("=" | "!=" as function, (Key() as key, Constant(value))) if value == null_value:
            return Call("is null" if function == "=" else "is not null", (key,))
        case Call(function, arguments):
            return Call(function, tuple(_nulls_named(each, null_value) for each in arguments))
        case _:
            return expression


def _step(expression: PartitionExpression, indexes: dict[str, int]) -> _Step:
    match expression:
        case Key(name) if name.lower() not in indexes:
            raise UnknownExpression(f"a condition over partitions must be of keys {', '.join(indexes)}, found {name!r}")
        case Key(name):
            index = indexes[name.lower()]
            return lambda row: row[index]
        case Constant(value):
            return lambda _: value
        case Call(function, arguments) if function.startswith(CAST) and len(arguments) == 1:
            inner, kind = _step(arguments[0], indexes), function.removeprefix(CAST)
            return lambda row: as_type(inner(row), kind)
        case Call(function, arguments):
            known = _FUNCTIONS.get(function)
            if known is None or not known[0] <= len(arguments) <= known[1]:
                raise UnknownExpression(f"a condition over partitions calls {function!r} of {len(arguments)} arguments")
            steps, apply = [_step(each, indexes) for each in arguments], known[2]
            keys = [each.name.lower() for each in arguments if isinstance(each, Key)]
            if len(keys) == 1 and all(isinstance(each, Key | Constant) for each in arguments):
                return _once_a_value(lambda row: apply([each(row) for each in steps]), indexes[keys[0]])
            return lambda row: apply([each(row) for each in steps])


def _once_a_value(step: _Step, index: int) -> _Step:
    """A step that depends on one key, evaluated once for each of its texts: many partitions have the same one.

    A text has one object for its value. Values of two texts may be equal and still differ, as 0.0 and -0.0 do.
    """
    answers: dict[int, Value] = {}

    def answer(row: _Row) -> Value:
        value = id(row[index])
        if value not in answers:
            answers[value] = step(row)
        return answers[value]

    return answer


def _truth(value: Value) -> Answer:
    if value is None or isinstance(value, bool):
        return value
    truth = as_type(value, "boolean")
    return truth if isinstance(truth, bool) else None


def _and(values: _Row) -> Answer:
    truths = [_truth(each) for each in values]
    return False if False in truths else None if None in truths else True


def _or(values: _Row) -> Answer:
    truths = [_truth(each) for each in values]
    return True if True in truths else None if None in truths else False


def _not(values: _Row) -> Answer:
    truth = _truth(values[0])
    return None if truth is None else not truth


def _comparing(holds: Callable[[int], bool]) -> Callable[[_Row], Answer]:
    def compare(values: _Row) -> Answer:
        order = compare_values(values[0], values[1])
        return None if order is None else holds(order)

    return compare


def _null_safe_equal(values: _Row) -> Answer:
    """Whether both are equal, or both null."""
    if None in values:
        return values[0] is None and values[1] is None
    return compare_values(values[0], values[1]) == 0


def _among(values: _Row) -> Answer:
    if values[0] is None:
        return None
    orders = [compare_values(values[0], each) for each in values[1:]]
    return True if 0 in orders else None if None in orders else False


def _between(values: _Row) -> Answer:
    """BETWEEN, negated if the first value is true; the others are the value and its bounds."""
    turned, value, low, high = values
    inside = _and([_FUNCTIONS[">="][2]([value, low]), _FUNCTIONS["<="][2]([value, high])])
    return None if inside is None else inside is not turned


def _like(values: _Row) -> Answer:
    text, pattern = values
    if text is None or pattern is None:
        return None
    return _pattern(str(pattern)).fullmatch(str(as_type(text, "string"))) is not None


def _pattern(like: str) -> re.Pattern[str]:
    r"""SQL's pattern: `%` is anything, `_` one character; a backslash makes them themselves."""
    parts = re.findall(r"\\[%_]|.", like, re.DOTALL)
    marks = {"%": ".*", "_": "."}
    return re.compile(
        "".join(marks.get(each) or re.escape(each[1:] if len(each) > 1 else each) for each in parts), re.DOTALL
    )


def _of_text(apply: Callable[[str], Value]) -> Callable[[_Row], Value]:
    def apply_to_text(values: _Row) -> Value:
        text = as_type(values[0], "string")
        return apply(text) if isinstance(text, str) else None

    return apply_to_text


def _concat(values: _Row) -> Value:
    texts = [as_type(each, "string") for each in values]
    return None if None in texts else "".join(map(str, texts))


def _substr(values: _Row) -> Value:
    """A part of a text from a place on, the first being 1; places below 0 count from the end."""
    if None in values:
        return None
    text, places = str(as_type(values[0], "string")), [as_type(each, "int") for each in values[1:]]
    numbers = [each for each in places if isinstance(each, int)]
    if len(numbers) < len(places):
        return None
    start, *size = numbers
    begin = start - 1 if start > 0 else len(text) + start if start < 0 else 0
    if not 0 <= begin < len(text):
        return ""
    return text[begin : begin + max(0, size[0])] if size else text[begin:]


def _coalesce(values: _Row) -> Value:
    return next((each for each in values if each is not None), None)


def _case_when(values: _Row) -> Value:
    """CASE WHEN: pairs of a condition and a value, then the ELSE value; the value of the first true condition."""
    pairs = zip(values[0::2], values[1::2], strict=False)
    otherwise = values[-1] if len(values) % 2 else None
    return next((value for condition, value in pairs if _truth(condition)), otherwise)


def _case(values: _Row) -> Value:
    """CASE: a value, then pairs of a value to compare with and a result, then the ELSE result."""
    first, *rest = values
    cases = [
        compare_values(first, each) == 0 if index % 2 == 0 else each
        for index, each in enumerate(rest[: len(rest) // 2 * 2])
    ]
    return _case_when([*cases, *rest[len(rest) // 2 * 2 :]])


_MANY = 1_000_000
_FUNCTIONS: dict[str, tuple[int, int, Callable[[_Row], Value]]] = {
    "and": (1, _MANY, _and),
    "or": (1, _MANY, _or),
    "not": (1, 1, _not),
    "=": (2, 2, _comparing(lambda order: order == 0)),
    "!=": (2, 2, _comparing(lambda order: order != 0)),
    "<": (2, 2, _comparing(lambda order: order < 0)),
    "<=": (2, 2, _comparing(lambda order: order <= 0)),
    ">": (2, 2, _comparing(lambda order: order > 0)),
    ">=": (2, 2, _comparing(lambda order: order >= 0)),
    "<=>": (2, 2, _null_safe_equal),
    "in": (2, _MANY, _among),
    "between": (4, 4, _between),
    "like": (2, 2, _like),
    "is null": (1, 1, lambda values: values[0] is None),
    "is not null": (1, 1, lambda values: values[0] is not None),
    "is true": (1, 1, lambda values: _truth(values[0]) is True),
    "is not true": (1, 1, lambda values: _truth(values[0]) is not True),
    "is false": (1, 1, lambda values: _truth(values[0]) is False),
    "is not false": (1, 1, lambda values: _truth(values[0]) is not False),
    "struct": (1, _MANY, tuple),
    "lower": (1, 1, _of_text(str.lower)),
    "upper": (1, 1, _of_text(str.upper)),
    "length": (1, 1, _of_text(len)),
    "concat": (1, _MANY, _concat),
    "substr": (2, 3, _substr),
    "coalesce": (1, _MANY, _coalesce),
    "case when": (2, _MANY, _case_when),
    "case": (3, _MANY, _case),
}
"""Each function with its fewest and most arguments."""

__all__ = ["CAST", "Answer", "Call", "Constant", "Key", "Moment", "PartitionExpression", "Value", "compile_expression"]
