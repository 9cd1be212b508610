"""`hmstats refresh`: analyse what is stale, the best first, within a budget."""

from typing import Annotated

import typer

from hmstats.cli.options import AsJson, DryRun, Master, Server, SparkSettings

_BUDGET = "The time for a round, such as 30m; at least one table or partition is analysed."
_WINDOW = "Only at these times: [DAYS] START-END [ZONE], such as 01:00-05:00."
_WATCH = "Keep running: follow the notification log, and refresh what changed."
_QUIET = "With --watch: wait until a table had no write for this time; 60s by default."
_DEFAULT_QUIET = "60s"
_LOOK = "How often the files of a seemingly fresh table are listed; none disables it."


def refresh(
    tables: Annotated[
        list[str] | None,
        typer.Argument(help="A database or a table; * stands for any characters.", metavar="DB[.TABLE]"),
    ] = None,
    *,
    budget: Annotated[str | None, typer.Option(help=_BUDGET, metavar="TIME")] = None,
    window: Annotated[str | None, typer.Option(help=_WINDOW, metavar="WINDOW")] = None,
    watch: Annotated[bool, typer.Option("--watch", help=_WATCH)] = False,
    quiet_period: Annotated[str | None, typer.Option(help=_QUIET, metavar="TIME")] = None,
    look_every: Annotated[str, typer.Option(help=_LOOK, metavar="TIME")] = "1d",
    dry_run: DryRun = False,
    sample: Annotated[
        float | None, typer.Option(help="The part of the rows to read; 1 reads all.", metavar="FRACTION")
    ] = None,
    tasks: Annotated[int | None, typer.Option(help="The most tasks of the job.")] = None,
    metastore: Server = None,
    master: Master = None,
    conf: SparkSettings = None,
    as_json: AsJson = False,
) -> None:
    """Analyse tables and partitions whose health is below 100, those with the largest gain per second first.

    Several refresh commands, on any machines, never analyse the same table at once. A failed table does not stop the
    others, and is retried later. SIGTERM ends the command after the partitions that are being read. The exit code is 3
    if something failed. An option that is unset comes from the tables' preferences.
    """
    if watch and dry_run:
        raise typer.BadParameter("--dry-run prints the plan of one round, so it does not go with --watch")
    if quiet_period is not None and not watch:
        raise typer.BadParameter("--quiet-period goes with --watch only: a single round waits for no table")
    from hmstats.cli.actions.health.refresh import Refresh
    from hmstats.cli.actions.spark_arguments import job_settings
    from hmstats.collector.options import Choices

    work = Refresh(
        texts=tables or [],
        budget=budget,
        window=window,
        quiet=quiet_period or _DEFAULT_QUIET,
        look=look_every,
        options=Choices(sample_fraction=sample, most_tasks=tasks),
        job=job_settings(metastore=metastore, master=master, conf=conf),
        as_json=as_json,
    )
    if dry_run:
        work.dry_run()
    else:
        work.run(watch=watch)
