"""The work of `hmstats learn`: read files of engines, and print what they taught."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

import typer

from hmstats.cli.actions.connecting import open_metastore
from hmstats.cli.output.plain_texts import plain_sentence
from hmstats.learning.learn import Learned, learn
from hmstats.learning.skipped import Skipped
from hmstats.learning.sources import queries_in
from hmstats.model.catalog.objects import TableName
from hmstats.outlets.people.cells import amount

_SHOWN = 5


def learn_files(files: Sequence[Path], *, dry_run: bool, metastore: str | None, as_json: bool) -> None:
    """Read the files and print what was found. Raises StatementError for a file of no known engine."""
    skipped = Skipped()
    with open_metastore(metastore) as service:
        learned = learn(service, queries_in(files, skipped), dry_run=dry_run)
    if as_json:
        found = {each: getattr(learned, each) for each in ("queries", "without_estimates", "found", "recorded")}
        named = {each: sorted(map(str, getattr(learned, each))) for each in ("elsewhere", "refused")}
        typer.echo(json.dumps({**found, **named, "skipped": asdict(skipped)}, ensure_ascii=False))
        return
    for line in _lines(learned, skipped, dry_run=dry_run):
        typer.echo(line)


def _lines(learned: Learned, skipped: Skipped, *, dry_run: bool) -> list[str]:
    said = "would be recorded" if dry_run else f"recorded: {learned.recorded:,}, see hmstats blame"
    queries, entries = amount(learned.queries, "query", "queries"), amount(learned.found, "entry", "entries")
    told = [f"{queries}, {entries} of blame; {said}"]
    if learned.without_estimates:
        told.append(
            f"{amount(learned.without_estimates, 'query', 'queries')} without estimates: Spark tells them with "
            "spark.sql.ui.explainMode=cost and spark.sql.cbo.enabled=true, Trino if its optimizer needed them"
        )
    if learned.elsewhere:
        told.append(f"not in this metastore, or not shown to you: {_some(learned.elsewhere)}")
    if learned.refused:
        reason = plain_sentence(str(next(iter(learned.refused.values()))))
        told.append(f"not recorded: {_some(learned.refused)}: {reason}")
    passed = [
        (skipped.broken_lines, "broken line", "broken lines"),
        (skipped.long_lines, "line that is too long", "lines that are too long"),
        (skipped.cut_files, "file that ends too early", "files that end too early"),
        (skipped.lost_executions, "execution that never ended", "executions that never ended"),
    ]
    told += [f"passed over: {amount(*each)}" for each in passed if each[0]]
    return told


def _some(tables: Iterable[TableName]) -> str:
    names = sorted(map(str, tables))
    more = "" if len(names) <= _SHOWN else f" and {len(names) - _SHOWN:,} more"
    return f"{', '.join(names[:_SHOWN])}{more}"
