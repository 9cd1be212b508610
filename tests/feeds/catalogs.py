"""A catalog that listens: it keeps what it is sent, and answers as it is told."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Listening:
    """`requests`: method, path, headers and body of each; `answer` makes the status and body, by default 200.

    `headers` are sent with every answer, and `text` in place of the body.
    """

    url: str = ""
    requests: list[tuple[str, str, dict[str, str], Any]] = field(default_factory=list)
    answer: Callable[[str, str], tuple[int, Any]] = lambda _method, _path: (200, {})
    headers: dict[str, str] = field(default_factory=dict)
    text: str | None = None


@contextmanager
def listening() -> Iterator[Listening]:
    """A catalog on a free port."""
    found = Listening()

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            found.requests.append((self.command, self.path, headers, json.loads(body) if body else None))
            status, answer = found.answer(self.command, self.path)
            text = (json.dumps(answer) if found.text is None else found.text).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            for name, value in found.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PUT = _answer  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Logs nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        found.url = f"http://127.0.0.1:{server.server_port}"
        yield found
        server.shutdown()
