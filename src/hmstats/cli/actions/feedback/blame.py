"""The work of `hmstats blame`: read who is to blame, and print a row for each."""

import json
import time

import typer

from hmstats.cli.actions.connecting import open_metastore
from hmstats.cli.output.blame_output import blame_as_json, print_blame
from hmstats.client.naming import named_object
from hmstats.client.tables.existing import check_exists, named_or_all
from hmstats.model.durations import duration_seconds
from hmstats.model.feedback.records import BlameSum


def list_blame(*, tables: list[str] | None, since: str, most: int, metastore: str | None, as_json: bool) -> None:
    """Print blame, the greatest weight first.

    Raises StatementError for a malformed name, and for one of nothing, InvalidInput for a malformed time.
    """
    since_ms = int((time.time() - duration_seconds(since)) * 1_000)
    found: list[BlameSum] = []
    with open_metastore(metastore) as service:
        for text in named_or_all(service, tables):
            of, table = named_object(text)
            sums = service.blame.sums(of.database, table, since_ms=since_ms, most=most, catalog=of.catalog)
            if not sums:
                check_exists(service, text)
            found += sums
    heaviest = sorted(dict.fromkeys(found), key=lambda each: (each.analyzed_since, -each.weight))[:most]
    if as_json:
        for each in heaviest:
            typer.echo(json.dumps(blame_as_json(each), ensure_ascii=False))
        return
    print_blame(heaviest)
