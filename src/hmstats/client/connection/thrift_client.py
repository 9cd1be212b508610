"""thriftpy2's client with a cache of the last long list of names, which is not decoded again if it is unchanged.

A page over a table asks for the names of its partitions each time: 20 ms for 100,000 of them.
"""

from types import ModuleType
from typing import Any

from thriftpy2.protocol.cybin import TCyBinaryProtocol
from thriftpy2.thrift import TClient
from thriftpy2.transport.buffered import TCyBufferedTransport

from hmstats.client.connection.scanned_answers import ScannedAnswers


class ThriftClient(TClient):  # type: ignore[misc] # thriftpy2 has no types
    """Calls the methods of a service. Not thread-safe."""

    def __init__(self, service: ModuleType, answers: ScannedAnswers) -> None:
        super().__init__(service, TCyBinaryProtocol(TCyBufferedTransport(answers)))
        self._answers = answers
        self._decoded: tuple[bytes, tuple[str, ...]] | None = None

    def _recv(self, _api: str) -> Any:
        answer = self._answers.receive()
        if self._decoded is not None and answer is self._decoded[0]:
            return list(self._decoded[1])
        found = super()._recv(_api)
        if self._answers.is_remembered(answer) and isinstance(found, list) and isinstance(found[0], str):
            self._decoded = answer, tuple(found)
        return found
