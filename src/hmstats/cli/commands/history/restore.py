"""`hmstats restore`: the statistics of a time written again."""

from typing import Annotated

import typer

from hmstats.cli.options import AsJson, DryRun, Server


def restore(
    target: Annotated[str | None, typer.Argument(help="The table or the database.", metavar="DB[.TABLE]")] = None,
    *,
    as_of: Annotated[str, typer.Option(help="The time: ISO 8601 with a zone, or '2h ago'.", metavar="TIME")],
    everything: Annotated[bool, typer.Option("--all", help="Every table.")] = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    metastore: Server = None,
) -> None:
    """Write the statistics of a time again, those of partitions too. A restore can be undone by another."""
    from hmstats.cli.actions.history.restore import restore_statistics

    restore_statistics(
        target=target, everything=everything, as_of=as_of, dry_run=dry_run, as_json=as_json, metastore=metastore
    )
