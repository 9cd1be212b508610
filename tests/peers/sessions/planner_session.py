"""A fixed SQL session on a Trino or Presto over its HTTP API; a line of JSON per statement.

    python -m tests.peers.sessions.planner_session http://127.0.0.1:8080 --warehouse file:/an/empty/folder
        [--dialect presto] [--session FILE] > out.jsonl

A line: {"sql", "error": null or "NAME: message", "rows"}; what differs from run to run is blanked, digits after the
sixth decimal are cut. Run it on a real Hive Metastore and on another server and compare. Times and errors go to
standard error. Session files: a statement a line, {s} the schema, {w} the warehouse, `@trino ` or `@presto ` before a
line for one of them only. session.sql is the default, session-long.sql has every kind of statement twice as deep.
--calls LOG --calls-out FILE: LOG as decode_calls writes it; FILE gets the metastore calls of each statement.
"""

import argparse
import collections
import json
import re
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

SCHEMA = "peersession"
STATEMENT_SECONDS = 300
BUSY_TRIES, BUSY_SECONDS = 10, 3.0


class Client:
    """Statements one after the other, with the session properties that earlier ones have set."""

    def __init__(self, url: str, dialect: str, catalog: str) -> None:
        self._url = url.rstrip("/") + "/v1/statement"
        self._prefix = f"X-{dialect.capitalize()}-"
        self._session: dict[str, str] = {}
        about = {"User": "peer", "Catalog": catalog, "Schema": SCHEMA, "Source": "planner_session", "Time-Zone": "UTC"}
        self._headers = {self._prefix + name: value for name, value in about.items()}

    def run(self, sql: str) -> tuple[list[Any], dict[str, Any] | None]:
        """Rows and no error, or no rows and the error."""
        rows, error = self._tried(sql)
        for _ in range(BUSY_TRIES):
            if error is None or error.get("errorName") != "NO_NODES_AVAILABLE":
                break
            time.sleep(BUSY_SECONDS)  # on a busy machine the engine does not hear from its own worker for a while
            rows, error = self._tried(sql)
        return rows, error

    def _tried(self, sql: str) -> tuple[list[Any], dict[str, Any] | None]:
        headers = dict(self._headers)
        if self._session:
            headers[self._prefix + "Session"] = ",".join(f"{key}={value}" for key, value in self._session.items())
        request = urllib.request.Request(self._url, data=sql.encode(), headers=headers, method="POST")
        rows: list[Any] = []
        until, pause = time.monotonic() + STATEMENT_SECONDS, 0.01
        while time.monotonic() < until:
            page = self._page(request)
            if page is None:
                continue
            if page.get("error"):
                return [], page["error"]
            rows += page.get("data") or []
            if not page.get("nextUri"):
                return rows, None
            request = urllib.request.Request(page["nextUri"], headers=self._headers)
            time.sleep(pause)
            pause = min(pause * 1.5, 0.2)
        return [], {"errorName": "CLIENT_TIMEOUT", "message": f"no end in {STATEMENT_SECONDS} s"}

    def _page(self, request: urllib.request.Request) -> dict[str, Any] | None:
        """One page of an answer; None when the engine asks to come again."""
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                page: dict[str, Any] = json.load(answer)
                for change in answer.headers.get_all(self._prefix + "Set-Session") or []:
                    key, _, value = change.partition("=")
                    self._session[key.strip()] = value.strip()
                return page
        except urllib.error.HTTPError as error:
            if error.code not in (502, 503, 504):
                raise
            time.sleep(0.1)
            return None


def statements(path: Path, dialect: str, warehouse: str) -> list[str]:
    """The statements of a session file for one dialect."""
    found = []
    for line in path.read_text().splitlines():
        only = re.match(r"@(\w+) ", line)
        if line.strip() and (not only or only[1] == dialect):
            statement = line[only.end() if only else 0 :]
            found.append(statement.replace("{s}", SCHEMA).replace("{w}", warehouse))
    return [each.replace("timestamp(3)", "timestamp") for each in found] if dialect == "presto" else found


def blank(text: str, warehouse: str) -> str:
    """The text without what differs from run to run."""
    path = re.sub(r"^file:/*", "/", warehouse)
    text = re.sub(r"file:/*" + re.escape(path), "WAREHOUSE", text).replace(path, "WAREHOUSE")
    text = re.sub(r"\b20\d{6}_\d{6}_\d{5}_[a-z0-9]{5}\b", "QUERY", text)
    text = re.sub(r"\b(?:127\.0\.0\.1|localhost)[:/]\d\S*", "ADDRESS", text)
    return re.sub(r"(\d\.\d{6})\d+", r"\1", text)


def calls_since(log: Path, offset: int) -> dict[str, Any]:
    """The number of calls by name that the record has after a byte, and the number of their connections."""
    time.sleep(0.1)  # the last calls may still be on their way
    with log.open() as lines:
        lines.seek(offset)
        calls = [json.loads(line) for line in lines]
    names = collections.Counter(
        each["name"] + ("" if each["reply"] in ("ok", "oneway") else "!" + each["reply"]) for each in calls
    )
    return {"connections": len({each["conn"] for each in calls}), "total": len(calls), "calls": names}


def main() -> None:
    """Run a session to its end."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("url")
    parser.add_argument("--warehouse", required=True, help="file:/..., an empty folder")
    parser.add_argument("--dialect", choices=["trino", "presto"], default="trino")
    parser.add_argument("--session", type=Path, default=Path(__file__).resolve().parent / "session.sql")
    parser.add_argument("--catalog", default="hive")
    parser.add_argument("--calls", type=Path, help="record written by decode_calls")
    parser.add_argument("--calls-out", type=Path)
    given = parser.parse_args()
    client, warehouse = Client(given.url, given.dialect, given.catalog), given.warehouse.rstrip("/")
    for sql in statements(given.session, given.dialect, warehouse):
        offset = given.calls.stat().st_size if given.calls else 0
        started = time.monotonic()
        rows, error = client.run(sql)
        seconds = time.monotonic() - started
        line = {
            "sql": sql,
            "error": f"{error.get('errorName')}: {error.get('message')}" if error else None,
            "rows": rows,
        }
        print(json.dumps(json.loads(blank(json.dumps(line), warehouse))), flush=True)
        print(f"{seconds:6.2f} s  {sql[:100]}" + (f"   !! {line['error']}" if error else ""), file=sys.stderr)
        if given.calls and given.calls_out:
            record = {"sql": blank(sql, warehouse), "seconds": round(seconds, 2)} | calls_since(given.calls, offset)
            with given.calls_out.open("a") as out:
                print(json.dumps(record), file=out)


if __name__ == "__main__":
    main()
