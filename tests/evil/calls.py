"""The calls that a server serves, and how often each is tried with arguments that no client sends."""

import importlib
import os
import pkgutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from tests.fixtures.databases.postgres import fresh_database
from thriftpy2.thrift import TApplicationException

from hmstats.server import rpc
from hmstats.wire.idl import Method, methods

_EXAMPLES = int(os.environ.get("HMSTATS_TEST_EVIL_EXAMPLES", "4"))
"""For each call and database; 25 take some minutes."""
EVERY_CALL = settings(
    max_examples=_EXAMPLES,
    phases=[Phase.generate],
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def subjects() -> Iterator[type]:
    """The classes that have the calls, each in a module of its own."""
    for module in pkgutil.walk_packages(rpc.__path__, f"{rpc.__name__}."):
        found = vars(importlib.import_module(module.name))
        yield from (each for name, each in found.items() if name.endswith("Calls"))


_SUBJECTS = list(subjects())
SERVED = [
    name for name, method in methods().items() if any(hasattr(each, name) for each in _SUBJECTS) and not method.oneway
]


@contextmanager
def database_of(kind: str, request: pytest.FixtureRequest, folder: Path) -> Iterator[str]:
    """A database at the newest revision: `sqlite`, a file in the folder, or `postgres`."""
    if kind == "postgres":
        server, template = (request.getfixturevalue(f"postgres_{each}") for each in ("server", "template"))
        with fresh_database(server, template) as url:
            yield url
        return
    file = folder / "metastore.sqlite"
    file.write_bytes(Path(request.getfixturevalue("sqlite_template")).read_bytes())
    yield f"sqlite:///{file}"


def refusal(method: Method, content: Any) -> Any | None:
    """The exception in a reply; None when there is none."""
    if isinstance(content, TApplicationException):
        return content
    raised = (getattr(content, field) for field in method.throws.values())
    return next((each for each in raised if each is not None), None)
