"""Changes of parameters by an alter, and what an alter tells the metastore beside them."""

from collections.abc import Mapping
from typing import Any

from hmstats.model.parameters.computed import OWN
from hmstats.model.parameters.parameter_change import change_of
from hmstats.wire.idl import hive_metastore

Changes = Mapping[str, str | None]
"""Parameters to set; one whose value is None is removed."""

_KEEP_STATISTICS = {"DO_NOT_UPDATE_STATS": "true"}
"""The order to keep the sent numbers: without it Hive lists the table's directory and overwrites them."""
_COMMITTED = "metadata_location"
"""The parameter that changes with each commit to an Iceberg table."""
_NOTHING: Mapping[str, str] = {}


def apply_changes(parameters: Mapping[str, str] | None, changes: Changes) -> dict[str, str]:
    """The parameters after these changes; a COLUMN_STATS_ACCURATE without columns leaves their marks as they are."""
    before = dict(parameters or {})
    return change_of(changes).with_column_marks(before).of(before)


def expected_commit(parameters: Mapping[str, str]) -> dict[str, str]:
    """The expected parameter of an alter, by which the metastore checks the commit of an Iceberg table."""
    if _COMMITTED not in parameters:
        return {}
    return {"expected_parameter_key": _COMMITTED, "expected_parameter_value": parameters[_COMMITTED]}


def alter_context(changes: Changes | None = None, expected: Mapping[str, str] = _NOTHING) -> Any:
    """The environment context of an alter: statistics stay, and the changed parameters are the client's own."""
    named = {OWN: ",".join(sorted(changes))} if changes else {}
    return hive_metastore.EnvironmentContext(properties={**_KEEP_STATISTICS, **named, **expected})
