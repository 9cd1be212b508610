"""A large answer that comes again as it was is not scanned again, and no other answer is taken for it."""

import struct

import pytest
from thriftpy2.protocol.cybin import TCyBinaryProtocol
from thriftpy2.transport import TTransportException
from thriftpy2.transport.memory import TCyMemoryBuffer

from hmstats.client.connection import scanned_answers
from hmstats.client.connection.scanned_answers import ScannedAnswers
from hmstats.errors import ProtocolError
from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.messages.scanner import Scanner

NAMES = [f"day=2024-01-01/number={number}" for number in range(20_000)]
PART_BYTES = 10_000


def answer(names: list[str]) -> bytes:
    """What a metastore answers to get_partition_names."""
    buffer = TCyMemoryBuffer()
    protocol = TCyBinaryProtocol(buffer)
    protocol.write_message_begin("get_partition_names", 2, 0)
    protocol.write_struct(api.ThriftHiveMetastore.get_partition_names_result(success=names))
    protocol.write_message_end()
    return bytes(buffer.getvalue())


class Arriving:
    """A transport whose bytes arrive in small parts; it ends behind the last."""

    def __init__(self) -> None:
        self.left = b""

    def read(self, size: int) -> bytes:
        part, self.left = self.left[: min(size, PART_BYTES)], self.left[min(size, PART_BYTES) :]
        return part

    def flush(self) -> None:
        """Nothing waits to be sent."""


class Scans:
    """Reads answers, and counts how often something was scanned for each."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.inner = Arriving()
        self._transport = ScannedAnswers(self.inner)
        self._transport.limit_seconds = 60
        self.count = 0

        class Counting(Scanner):
            def scan(of) -> int | None:  # noqa: N805 - `self` counts
                self.count += 1
                return super().scan()

        monkeypatch.setattr(scanned_answers, "Scanner", Counting)

    def read(self, sent: bytes) -> bytes:
        """The answer as the protocol reads it."""
        self.count, self.inner.left = 0, sent
        self._transport.flush()
        return self._transport.read(len(sent) + 1)


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> Scans:
    return Scans(monkeypatch)


def test_what_comes_again_is_not_scanned_again(scans: Scans) -> None:
    large, small = answer(NAMES), answer(NAMES[:9])
    assert scans.read(large) == large
    assert scans.count > 1
    assert scans.read(small) == small
    assert scans.count > 0
    assert scans.read(large) == large
    assert scans.count == 0


def test_a_small_answer_is_scanned_each_time(scans: Scans) -> None:
    for _ in range(2):
        assert scans.read(answer(NAMES[:9])) == answer(NAMES[:9])
        assert scans.count > 0


@pytest.mark.parametrize("names", [[*NAMES[:-1], "day=2024-01-01/number=2000"], [*NAMES, "x"], NAMES[:-1], NAMES[1:]])
def test_what_begins_alike_is_read_as_it_is(scans: Scans, names: list[str]) -> None:
    scans.read(answer(NAMES))
    assert scans.read(answer(names)) == answer(names)
    assert scans.count > 0
    assert scans.read(answer(names)) == answer(names)
    assert scans.count == 0


def test_what_begins_alike_and_claims_billions_is_refused(scans: Scans) -> None:
    large = answer(NAMES)
    scans.read(large)
    claim = struct.pack(">i", 2_000_000_000)
    with pytest.raises(ProtocolError):
        scans.read(large[: len(large) // 2 - 4] + claim + b"\0" * 100_000)


def test_what_begins_alike_and_ends_is_broken(scans: Scans) -> None:
    large = answer(NAMES)
    scans.read(large)
    with pytest.raises(TTransportException):
        scans.read(large[:-1])


def test_what_comes_behind_its_end_is_refused(scans: Scans) -> None:
    large = answer(NAMES)
    scans.read(large)
    with pytest.raises(ProtocolError, match="found 1 bytes behind its end"):
        scans.read(large + b"x")
