"""The work of `hmstats runs`: read runs, and print a row for each."""

import json

import typer

from hmstats.cli.actions.connecting import open_metastore
from hmstats.cli.output.refresh_output import print_runs, run_as_json
from hmstats.client.naming import named_object
from hmstats.client.tables.existing import check_exists, named_or_all


def list_runs(
    *, tables: list[str] | None, outcome: str | None, most: int, metastore: str | None, as_json: bool
) -> None:
    """Print the runs of the tables that match. Raises StatementError for a malformed name, and for one of nothing."""
    found, leases = [], []
    with open_metastore(metastore) as service:
        for text in named_or_all(service, tables):
            of, table = named_object(text)
            runs, taken = service.runs.listed(of.database, table, outcome=outcome, most=most, catalog=of.catalog)
            if not runs:
                check_exists(service, text)
            found += runs
            leases += taken
    newest = sorted({each.id: each for each in found}.values(), key=lambda each: -each.started_ms)[:most]
    if as_json:
        for each in newest:
            typer.echo(json.dumps(run_as_json(each), ensure_ascii=False))
        return
    print_runs(newest, {name: lease for name, lease, _ in leases})
