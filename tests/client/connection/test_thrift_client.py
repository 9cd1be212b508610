"""A long list of names that comes again is not decoded again; whoever changes it changes no other answer."""

from typing import Any

import pytest
from tests.client.connection.test_scanned_answers import NAMES, Arriving, answer
from thriftpy2.protocol.cybin import TCyBinaryProtocol
from thriftpy2.transport.memory import TCyMemoryBuffer

from hmstats.client.connection.scanned_answers import ScannedAnswers
from hmstats.client.connection.thrift_client import ThriftClient
from hmstats.wire.idl import EXTENDED_SERVICE
from hmstats.wire.idl import hive_metastore as api


class Scripted(Arriving):
    """A metastore that answers each call with what comes next."""

    def __init__(self, *sent: bytes) -> None:
        super().__init__()
        self._sent = list(sent)

    def write(self, data: bytes) -> None:
        """Take a part of a request."""

    def flush(self) -> None:
        """Answer the request."""
        self.left = self._sent.pop(0)


def client(*sent: bytes) -> Any:
    answers = ScannedAnswers(Scripted(*sent))
    answers.limit_seconds = 60
    return ThriftClient(EXTENDED_SERVICE, answers)


def refusal() -> bytes:
    """What a metastore answers when there is no such table."""
    buffer = TCyMemoryBuffer()
    protocol = TCyBinaryProtocol(buffer)
    protocol.write_message_begin("get_partition_names", 2, 0)
    gone = api.NoSuchObjectException(message="gone" * 100_000)
    protocol.write_struct(api.ThriftHiveMetastore.get_partition_names_result(o1=gone))
    protocol.write_message_end()
    return bytes(buffer.getvalue())


def test_names_that_come_again_are_the_same_objects() -> None:
    calls = client(answer(NAMES), answer(NAMES[:3]), answer(NAMES))
    first = calls.get_partition_names("d", "t", -1)
    assert calls.get_partition_names("d", "u", -1) == NAMES[:3]
    again = calls.get_partition_names("d", "t", -1)
    assert first == again == NAMES
    assert all(one is other for one, other in zip(first, again, strict=True))


def test_a_list_that_is_changed_changes_no_other() -> None:
    calls = client(*[answer(NAMES)] * 3)
    for _ in range(3):
        found = calls.get_partition_names("d", "t", -1)
        assert found == NAMES
        found.clear()


def test_a_change_is_seen() -> None:
    changed = [*NAMES[:-1], "day=2024-01-01/number=99999"]
    calls = client(answer(NAMES), answer(changed), answer(NAMES), answer(NAMES[1:]))
    assert [calls.get_partition_names("d", "t", -1) for _ in range(4)] == [NAMES, changed, NAMES, NAMES[1:]]


def test_a_long_refusal_is_raised_each_time() -> None:
    calls = client(refusal(), refusal(), answer(NAMES))
    for _ in range(2):
        with pytest.raises(api.NoSuchObjectException):
            calls.get_partition_names("d", "t", -1)
    assert calls.get_partition_names("d", "t", -1) == NAMES
