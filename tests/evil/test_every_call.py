"""Whatever the arguments: a declared exception or a right answer, and a refused call has changed nothing."""

import importlib
import os
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.evil import wrong_types
from tests.evil.arguments import arguments
from tests.evil.served import Served, served
from tests.fixtures.postgres import fresh_database
from thriftpy2.thrift import TApplicationException

from hmstats.server import rpc
from hmstats.wire.idl import Method, methods

EXAMPLES = int(os.environ.get("HMSTATS_TEST_EVIL_EXAMPLES", "4"))
"""For each call and database; 25 take some minutes."""


def _subjects() -> Iterator[type]:
    """The classes that have the calls, each in a module of its own."""
    for module in pkgutil.walk_packages(rpc.__path__, f"{rpc.__name__}."):
        found = vars(importlib.import_module(module.name))
        yield from (each for name, each in found.items() if name.endswith("Calls"))


_SUBJECTS = list(_subjects())
_SERVED = [
    name for name, method in methods().items() if any(hasattr(each, name) for each in _SUBJECTS) and not method.oneway
]


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def metastore(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp(f"evil-{request.param}")
    if request.param == "postgres":
        server, template = (request.getfixturevalue(f"postgres_{each}") for each in ("server", "template"))
        with fresh_database(server, template) as url, served(url, folder) as running:
            yield running
        return
    file = folder / "metastore.sqlite"
    file.write_bytes(Path(request.getfixturevalue("sqlite_template")).read_bytes())
    with served(f"sqlite:///{file}", folder) as running:
        yield running


_EVERY_CALL = settings(
    max_examples=EXAMPLES,
    phases=[Phase.generate],
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.mark.parametrize("name", _SERVED)
@_EVERY_CALL
@given(data=st.data())
def test_a_call_is_answered_or_refused_whole(metastore: Served, name: str, data: st.DataObject) -> None:
    method = methods()[name]
    _check(metastore, method, data.draw(arguments(method)))


@pytest.mark.parametrize("metastore", ["sqlite"], indirect=True)
@pytest.mark.parametrize("name", _SERVED)
@_EVERY_CALL
@given(data=st.data())
def test_arguments_of_other_types_are_refused_whole(metastore: Served, name: str, data: st.DataObject) -> None:
    """What is decoded of them is as good as nothing, so one database is enough."""
    method = methods()[name]
    _check(metastore, method, data.draw(wrong_types.arguments(method)))


def _check(metastore: Served, method: Method, sent: Any) -> None:
    reply = metastore.ask(method, sent)
    assert not metastore.broken()
    refusal = _refusal(method, reply.content)
    changed = metastore.changed()
    if changed:
        metastore.refill()
    if refusal is not None:
        assert refusal.message, refusal
        assert not changed, refusal


def _refusal(method: Method, content: Any) -> Any | None:
    """The exception in a reply; None when there is none."""
    if isinstance(content, TApplicationException):
        return content
    raised = (getattr(content, field) for field in method.throws.values())
    return next((each for each in raised if each is not None), None)
