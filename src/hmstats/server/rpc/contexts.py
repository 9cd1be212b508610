"""Environment contexts: the properties of a call beside its arguments. A context and its properties may be null."""

from collections.abc import Mapping
from typing import Any

from hmstats.model.parameters.basic_statistics import StatisticsSource

PURGE = "ifPurge"
"""The property by which dropped files skip the trash."""


def properties(environment_context: Any) -> Mapping[str, str]:
    """The properties of a context."""
    return (environment_context.properties or {}) if environment_context else {}


def is_true(environment_context: Any, name: str) -> bool:
    """Whether a property is "true"."""
    return str(properties(environment_context).get(name)).lower() == "true"


def statistics_source(environment_context: Any) -> StatisticsSource:
    """How the rows, files and bytes of a call were counted, by its context."""
    if is_true(environment_context, "DO_NOT_UPDATE_STATS"):
        return StatisticsSource.AS_GIVEN
    generated = properties(environment_context).get("STATS_GENERATED")
    named = {"TASK": StatisticsSource.TASK, "USER": StatisticsSource.USER}
    return named.get(generated or "", StatisticsSource.UNSAID)
