"""Whatever the arguments: a declared exception or a right answer, and a refused call has changed nothing."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evil import wrong_types
from tests.evil.arguments import arguments
from tests.evil.calls import EVERY_CALL, SERVED, database_of, refusal
from tests.evil.served import Served, served

from hmstats.wire.idl import Method, methods


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def metastore(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp(f"evil-{request.param}")
    with database_of(request.param, request, folder) as url, served(url, folder) as running:
        yield running


@pytest.mark.parametrize("name", SERVED)
@EVERY_CALL
@given(data=st.data())
def test_a_call_is_answered_or_refused_whole(metastore: Served, name: str, data: st.DataObject) -> None:
    method = methods()[name]
    _check(metastore, method, data.draw(arguments(method)))


@pytest.mark.parametrize("metastore", ["sqlite"], indirect=True)
@pytest.mark.parametrize("name", SERVED)
@EVERY_CALL
@given(data=st.data())
def test_arguments_of_other_types_are_refused_whole(metastore: Served, name: str, data: st.DataObject) -> None:
    """What is decoded of them is as good as nothing, so one database is enough."""
    method = methods()[name]
    _check(metastore, method, data.draw(wrong_types.arguments(method)))


def _check(metastore: Served, method: Method, sent: Any) -> None:
    reply = metastore.ask(method, sent)
    assert not metastore.broken()
    refused = refusal(method, reply.content)
    changed = metastore.changed()
    if changed:
        metastore.refill()
    if refused is not None:
        assert refused.message, refused
        assert not changed, refused
