"""A REST catalog of Iceberg over a SQL catalog: the calls that load tables and commit to them, as its API has them.

`before_commit` is called before each commit is applied; `answers` are statuses that are sent in place of the next
answers to commits, after these were applied.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException, NoSuchTableError
from pyiceberg.table import CommitTableRequest
from pyiceberg.typedef import Identifier

_SEPARATOR = "%1F"


@dataclass
class RestServer:
    """A server: its tables, its port, and what happens to commits."""

    tables: SqlCatalog
    port: int = 0
    before_commit: Callable[[], None] = lambda: None
    answers: list[int] = field(default_factory=list)

    @property
    def uri(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def rest_server(tables: SqlCatalog) -> Iterator[RestServer]:
    """A server of these tables, until the end."""
    found = RestServer(tables)

    class Handler(_Handler):
        server_of_tables = found

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.port = server.server_port
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    server_of_tables: RestServer

    def do_GET(self) -> None:
        path = self.path.split("?", maxsplit=1)[0]
        if path == "/v1/config":
            return self._send(200, {"defaults": {}, "overrides": {}})
        if path.endswith("/tables"):
            return self._send(200, {"identifiers": self._list(path)})
        try:
            table = self.server_of_tables.tables.load_table(_identifier(path))
        except NoSuchTableError:
            return self._send_error(404, "NoSuchTableException", "no such table")
        return self._send(200, _answer(table.metadata, table.metadata_location))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        request = CommitTableRequest.model_validate_json(body)
        of = self.server_of_tables
        of.before_commit()
        table = of.tables.load_table(_identifier(self.path))
        try:
            done = of.tables.commit_table(table, request.requirements, request.updates)
        except CommitFailedException as error:
            return self._send_error(409, "CommitFailedException", str(error))
        if of.answers:
            return self._send_error(of.answers.pop(), "CommitStateUnknownException", "the answer is lost")
        return self._send(200, _answer(done.metadata, done.metadata_location))

    def log_message(self, *_: object) -> None:
        """Nothing is logged."""

    def _list(self, path: str) -> list[dict[str, Any]]:
        namespace = path.split("/")[3].replace(_SEPARATOR, ".")
        listed = self.server_of_tables.tables.list_tables(namespace)
        return [{"namespace": each[:-1], "name": each[-1]} for each in listed]

    def _send_error(self, code: int, kind: str, message: str) -> None:
        self._send(code, {"error": {"message": message, "type": kind, "code": code}})

    def _send(self, code: int, answer: Any) -> None:
        data = json.dumps(answer).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _identifier(path: str) -> Identifier:
    _, _, _, namespace, _, table = path.split("/")
    return (*namespace.split(_SEPARATOR), table)


def _answer(metadata: Any, location: str) -> dict[str, Any]:
    return {"metadata": json.loads(metadata.model_dump_json(by_alias=True)), "metadata-location": location}
