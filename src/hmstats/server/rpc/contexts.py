"""Environment contexts: what a call says beside its arguments. They may be null, and so may what they hold."""

from collections.abc import Mapping
from typing import Any


def properties(environment_context: Any) -> Mapping[str, str]:
    """The properties of a context."""
    return (environment_context.properties or {}) if environment_context else {}


def is_true(environment_context: Any, name: str) -> bool:
    """Whether a property says true."""
    return str(properties(environment_context).get(name)).lower() == "true"
