"""Compares the two plans of an execution: the optimizer's estimates with the rows of the plan that ran.

The plans share no ids. They have the same shape except for steps that only one of them has: an aggregate runs in
several steps; a condition on partitions selects files before a scan; a condition may be proven, and not run. Below any
other difference of the shapes, the rows are unknown.
"""

from dataclasses import replace

from hmstats.learning.skipped import UNEXPECTED
from hmstats.learning.spark import logical_plan
from hmstats.learning.spark.executions import Execution
from hmstats.learning.spark.physical_plan import Ran, ran
from hmstats.model.feedback.queries import Operation, Operator, Query

ENGINE = "spark"


def query(execution: Execution) -> Query | None:
    """The query of an execution; None if it has no optimizer's plan, or a truncated one."""
    try:
        planned = logical_plan.operations(execution.text)
        done = ran(execution.tree, execution.counts)
        root = None if planned is None else _match_plans(planned, done)
    except UNEXPECTED:
        return None
    seconds = max(execution.ended_ms - execution.began_ms, 0) / 1_000
    return None if root is None else Query(ENGINE, execution.began_ms, seconds, root)


def _match_plans(planned: Operation, done: Ran | None) -> Operation:
    """The planned operations with the rows of those that ran."""
    if done is None:
        return planned
    if planned.operator is done.operator and len(planned.inputs) == len(done.inputs):
        return _match_operations(planned, done)
    if done.operator is Operator.AGGREGATE and len(done.inputs) == 1:
        return _match_plans(planned, done.inputs[0])  # one step of an aggregate that was planned above
    if planned.operator is Operator.FILTER:
        below = planned.inputs[0]
        rows = done.rows if done.operator is Operator.SCAN and done.chosen else None
        scan = replace(done, rows=None) if rows is not None else done
        return replace(planned, rows=rows, inputs=(_match_plans(below, scan),))
    if done.operator is Operator.FILTER and len(done.inputs) == 1:
        return _match_plans(planned, done.inputs[0])
    return planned


def _match_operations(planned: Operation, done: Ran) -> Operation:
    if planned.operator is Operator.SCAN:
        return replace(planned, rows=done.rows, at_least=done.at_least)
    inputs = done.inputs
    if planned.operator is Operator.AGGREGATE:
        # The first of several steps with the same keys has all groups; the other steps are partial.
        while inputs[0].operator is Operator.AGGREGATE and inputs[0].keys == done.keys and inputs[0].inputs:
            inputs = inputs[0].inputs
    both = tuple(_match_plans(below, own) for below, own in zip(planned.inputs, inputs, strict=True))
    return replace(planned, rows=done.rows, inputs=both)
