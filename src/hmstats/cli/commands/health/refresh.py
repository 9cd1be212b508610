"""`hmstats refresh`: analyse what is stale, the best first, within a budget."""

from typing import Annotated

import typer

from hmstats.cli.options import AsJson, Master, Server, SparkSettings

_BUDGET = "End a round when this time is spent, such as 30m; at least one piece is done."
_WINDOW = "Only at these times: [DAYS] START-END [ZONE], such as 01:00-05:00."
_WATCH = "Go on: follow the notification log, and refresh what has changed."
_QUIET = "With --watch: how long nobody must have written to a table."
_DRY = "Say what would be done, and change nothing."
_LOOK = "How often the files of a table that looks fresh are listed; none: never."


def refresh(
    tables: Annotated[
        list[str] | None,
        typer.Argument(help="A database or a table; * stands for any characters.", metavar="DB[.TABLE]"),
    ] = None,
    *,
    budget: Annotated[str | None, typer.Option(help=_BUDGET, metavar="TIME")] = None,
    window: Annotated[str | None, typer.Option(help=_WINDOW, metavar="WINDOW")] = None,
    watch: Annotated[bool, typer.Option("--watch", help=_WATCH)] = False,
    quiet_period: Annotated[str, typer.Option(help=_QUIET, metavar="TIME")] = "60s",
    look_every: Annotated[str, typer.Option(help=_LOOK, metavar="TIME")] = "1d",
    dry_run: Annotated[bool, typer.Option("--dry-run", help=_DRY)] = False,
    sample: Annotated[
        float | None, typer.Option(help="The part of the rows to read; 1 reads all.", metavar="FRACTION")
    ] = None,
    tasks: Annotated[int | None, typer.Option(help="The most tasks that the work is cut into.")] = None,
    metastore: Server = None,
    master: Master = None,
    conf: SparkSettings = None,
    as_json: AsJson = False,
) -> None:
    """Analyse tables and partitions whose health is below 100, those first that gain most for each second.

    Several of these commands, on any machines, never do the same. Failed tables are tried again later and stop nothing.
    SIGTERM ends the command after the partitions that are being read. The exit code is 3 if something failed. Options
    that are not given are those of the tables' preferences.
    """
    from hmstats.cli.actions.health.refresh import Refresh
    from hmstats.cli.actions.spark_arguments import settings_of_spark
    from hmstats.collector.options import Choices
    from hmstats.settings import load, origin

    flags = {"metastore": metastore}
    settings = load(flags)
    work = Refresh(
        texts=tables or ["*"],
        budget=budget,
        window=window,
        quiet=quiet_period,
        look=look_every,
        options=Choices(sample_fraction=sample, most_tasks=tasks),
        metastore=settings.metastore,
        named=origin("metastore", flags) != "default",
        master=master,
        conf=settings_of_spark(conf or []),
        spool=settings.spool,
        patience_seconds=settings.patience_seconds,
        as_json=as_json,
    )
    if dry_run:
        work.dry_run()
    else:
        work.run(watch=watch)
