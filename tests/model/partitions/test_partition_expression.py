"""A condition is evaluated once for each text of a key, and gives what it gives for each partition by itself."""

from itertools import product

import pytest

from hmstats.model.partitions.partition_expression import Call, Constant, Key, PartitionExpression, compile_expression

KEYS = [("amount", "decimal(10,2)"), ("day", "string"), ("n", "int")]
NULL = "__HIVE_DEFAULT_PARTITION__"
AMOUNT, DAY, N = Key("Amount"), Key("day"), Key("n")
TEXTS = (["1.0", "1.00", "2", "x", NULL], ["1", "b", NULL], ["1", "01", "2", NULL])


@pytest.mark.parametrize(
    "condition",
    [
        Call("=", (Call("concat", (DAY, Constant("x"))), Constant("1x"))),
        Call("=", (AMOUNT, Constant("1"))),
        Call("and", (Call("=", (N, Constant(1))), Call(">", (DAY, Constant("1"))))),
        Call("or", (Call("is null", (N,)), Call("in", (DAY, Constant("b"), Constant(None))))),
        Call("=", (DAY, AMOUNT)),
        Call("not", (Call("<", (N, N)),)),
        DAY,
    ],
)
def test_values_that_were_seen_before_change_no_answer(condition: PartitionExpression) -> None:
    rows = [*product(*TEXTS)]
    seen = compile_expression(condition, KEYS, NULL)
    for row in [*rows, *reversed(rows)]:
        assert seen(row) == compile_expression(condition, KEYS, NULL)(row)
