"""Lines to `hmstats mcp` that no assistant sends: each is refused or passed over, and the next one is answered."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest
from tests.fixtures.servers import HMSTATS, serving

pytest.importorskip("mcp", reason="pip install '.[mcp]'")

_MB = 1_000_000


class Assistant:
    """The command in a process of its own, and what it says line by line."""

    def __init__(self, port: int, log: Path) -> None:
        command = [HMSTATS, "mcp", "--metastore", f"thrift://127.0.0.1:{port}"]
        pipe = subprocess.PIPE
        self._log = log
        with log.open("w") as errors:
            self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=errors, env=dict(os.environ))
        self._next = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate(timeout=60)

    def send(self, line: bytes) -> None:
        """Send a line as it is."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, **params: Any) -> Any:
        """The answer to a request; what else is said before is passed over."""
        self._next += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params}).encode())
        assert self.process.stdout is not None
        for line in self.process.stdout:
            said = json.loads(line)
            if said.get("id") == self._next:
                return said
        raise AssertionError(self._log.read_text()[-3_000:])

    def begin(self) -> None:
        """Introduce the client."""
        client = {"name": "tests", "version": "1"}
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        self.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')

    def tables(self) -> str:
        """What the tool `tables` answers."""
        found: str = self.ask("tools/call", name="tables", arguments={})["result"]["content"][0]["text"]
        return found

    def resident_mb(self) -> float:
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1024


@pytest.fixture(scope="module")
def assistant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Assistant]:
    folder = tmp_path_factory.mktemp("assistant")
    with serving(folder, "--workers", "1") as port, Assistant(port, folder / "mcp.log") as found:
        found.begin()
        yield found


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\0" * 50,
        b"\xff\xfe{}",
        b"{",
        b"nonsense",
        b"[]",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": ' + b"[" * 5_000 + b"]" * 5_000 + b"}",
        b'{"jsonrpc": "1.0", "id": 99, "method": "tools/list"}',
        b'{"jsonrpc": "2.0", "id": null, "method": "tools/list"}',
        b'{"jsonrpc": "2.0", "id": 1e400, "method": "tools/list"}',
        b'{"jsonrpc": "2.0", "id": ' + b"9" * 5_000 + b', "method": "tools/list"}',
        b'{"jsonrpc": "2.0", "id": 99, "result": {}}',
        b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 12345}}',
        b'{"jsonrpc": "2.0", "id": 99, "method": "nothing/like/it"}',
        b'{"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": {"name": "rows", "arguments": {"table": 5}}}',
        b"POST / HTTP/1.1\r\nHost: x\r\n\r\n{}",
    ],
    ids=lambda line: repr(line[:60]),
)
def test_what_is_no_request_is_passed_over(assistant: Assistant, line: bytes) -> None:
    assistant.send(line)
    assert assistant.tables()


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        b"x" * 20 * _MB,
        b'{"jsonrpc": "2.0", "id": 99, "method": "' + b"x" * 20 * _MB + b'"}',
        b'{"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": {"name": "tables", "arguments": {"search": "'
        + b"a%_*" * 1_000_000
        + b'"}}}',
        b'{"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": {"name": "rows", "arguments": {"table": "a.b",'
        b' "where": "' + b"(" * 1_000_000 + b'"}}}',
    ],
    ids=["no JSON", "a method", "a search", "a filter"],
)
def test_a_huge_line_is_refused_and_its_memory_given_back(assistant: Assistant, line: bytes) -> None:
    before = assistant.resident_mb()
    assistant.send(line)
    assert assistant.tables()
    assert assistant.resident_mb() - before < 15 * len(line) / _MB


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("tables", {"limit": 10**30}),
        ("tables", {"limit": -1}),
        ("tables", {"limit": "NaN"}),
        ("table", {"table": "a.b.c.d.e"}),
        ("table", {"table": "\0"}),
        ("table", {"table": "x" * 1_000_000}),
        ("table", {"table": "a.b", "as_of": "9" * 1_000}),
        ("ask", {"table": "a.b", "column": "c", "question": "quantiles", "fractions": [0.5] * 1_000}),
        ("ask", {"table": "a.b", "column": "c", "question": "quantiles", "fractions": [1e308]}),
        ("ask", {"table": "a.b", "column": "c", "question": "everything"}),
        ("nothing", {}),
    ],
)
def test_arguments_that_mean_nothing_are_an_error(assistant: Assistant, tool: str, arguments: dict[str, Any]) -> None:
    said = assistant.ask("tools/call", name=tool, arguments=arguments)
    assert "error" in said or said["result"]["isError"]
    assert "Traceback" not in json.dumps(said)
    assert assistant.tables()
