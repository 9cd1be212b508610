"""One run of a feed: each table that changed is read, and sent as its catalog has it."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote

from hmstats.client import Metastore
from hmstats.errors import HmstatsError, NoSuchObject, ServiceUnavailable, SettingsError
from hmstats.feeds import datahub, openlineage, openmetadata
from hmstats.feeds.sending import Answer, Catalog
from hmstats.web.answers.tables import TableFacts
from hmstats.web.reading.selections import Selection
from hmstats.web.reading.table_facts import table_facts

Kind = Literal["openlineage", "datahub", "openmetadata"]
_ALL_COLUMNS = 100_000
_LINEAGE = "/api/v1/lineage"
_NOT_THERE = 404
_MOST_UNANSWERED = 3
"""After so many tables in a row whose requests all failed, the catalog counts as unavailable."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome for a table: sent, gone (from the metastore), unknown (to the catalog) or failed, with the reason."""

    table: str
    outcome: Literal["sent", "gone", "unknown", "failed"]
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Names:
    """Names of tables: by OpenLineage's namespace, DataHub's platform and environment, OpenMetadata's prefix."""

    namespace: str
    platform: str = "hive"
    environment: str = "PROD"
    prefix: str = "hive.default"


def send_tables(service: Metastore, kind: Kind, catalog: Catalog, names: Names, tables: list[str]) -> Iterator[Outcome]:
    """Send tables, and yield the outcome for each.

    A table that fails does not stop the others, until several in a row failed since the catalog took no request: then
    the rest is not sent.
    """
    unanswered = 0
    for table in tables:
        facts = _read(service, table) if unanswered < _MOST_UNANSWERED else _not_sent(table, catalog)
        if isinstance(facts, Outcome):
            yield facts
            continue
        try:
            yield _outcome(table, _SENDERS[kind](catalog, names, facts))
            unanswered = 0
        except ServiceUnavailable as error:
            yield Outcome(table, "failed", str(error))
            unanswered += 1
        except HmstatsError as error:
            yield Outcome(table, "failed", str(error))


def _read(service: Metastore, table: str) -> TableFacts | Outcome:
    """The facts of a table that are sent, or the outcome if they cannot be read."""
    try:
        return table_facts(service, table, Selection(), limit=_ALL_COLUMNS)
    except NoSuchObject:
        return Outcome(table, "gone")
    except HmstatsError as error:
        return Outcome(table, "failed", str(error))


def _not_sent(table: str, catalog: Catalog) -> Outcome:
    reason = f"not sent, since {catalog.url} took no request of the {_MOST_UNANSWERED} tables before"
    return Outcome(table, "failed", reason)


def messages(service: Metastore, kind: Kind, names: Names, tables: list[str]) -> Iterator[Any]:
    """The messages about tables that would be sent, as the catalog would get them."""
    now_ms = int(time.time() * 1000)
    for table in tables:
        try:
            facts = table_facts(service, table, Selection(), limit=_ALL_COLUMNS)
        except NoSuchObject:
            continue
        yield _MESSAGES[kind](names, facts, now_ms)


def path_of(kind: Kind, url: str) -> str:
    """The address of a catalog with the path that its kind has, if it names none."""
    bare = url.rstrip("/")
    return f"{bare}{_LINEAGE}" if kind == "openlineage" and bare.count("/") == 2 else bare


def _outcome(table: str, answer: Answer | None) -> Outcome:
    if answer is None:
        return Outcome(table, "unknown")
    if answer.is_good:
        return Outcome(table, "sent")
    return Outcome(table, "failed", f"status {answer.status}: {answer.said}")


def _to_openlineage(catalog: Catalog, names: Names, table: TableFacts) -> Answer:
    return catalog.request("POST", "", _openlineage(names, table, int(time.time() * 1000)))


def _to_datahub(catalog: Catalog, names: Names, table: TableFacts) -> Answer:
    return catalog.request("POST", datahub.PATH, _datahub(names, table, int(time.time() * 1000)))


def _to_openmetadata(catalog: Catalog, names: Names, table: TableFacts) -> Answer | None:
    """The answer; None when the catalog has no such table. Raises SettingsError when it is no OpenMetadata."""
    full_name = quote(openmetadata.full_name(table, names.prefix), safe="")
    found = catalog.request("GET", f"/v1/tables/name/{full_name}")
    if found.status == _NOT_THERE:
        return None
    if not found.is_good:
        return found
    table_id = found.body.get("id") if isinstance(found.body, dict) else None
    if not isinstance(table_id, str):
        raise SettingsError(
            f"{catalog.url} must be the API of OpenMetadata, as https://HOST/api, found the answer {found.said[:80]!r}"
        )
    return catalog.request(
        "PUT", f"/v1/tables/{table_id}/tableProfile", _openmetadata(names, table, int(time.time() * 1000))
    )


def _openlineage(names: Names, table: TableFacts, now_ms: int) -> Any:
    return openlineage.dataset_event(table, names.namespace, now_ms)


def _datahub(names: Names, table: TableFacts, now_ms: int) -> Any:
    return datahub.proposal(table, names.platform, names.environment, now_ms)


def _openmetadata(_names: Names, table: TableFacts, now_ms: int) -> Any:
    return openmetadata.table_profile(table, now_ms)


_SENDERS: dict[Kind, Callable[[Catalog, Names, TableFacts], Answer | None]] = {
    "openlineage": _to_openlineage,
    "datahub": _to_datahub,
    "openmetadata": _to_openmetadata,
}
_MESSAGES: dict[Kind, Callable[[Names, TableFacts, int], Any]] = {
    "openlineage": _openlineage,
    "datahub": _datahub,
    "openmetadata": _openmetadata,
}
