"""Options that several commands have: one name and one meaning everywhere. Nothing heavy is imported."""

from collections.abc import Collection
from typing import Annotated

import typer

from hmstats.errors import StatementError

USER = "The user of the token, or of the calls."
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON: one object, or one on each line.")]
Server = Annotated[str | None, typer.Option(help="The metastore.", metavar="thrift://HOST:PORT")]
Where = Annotated[
    str | None, typer.Option(help="The partitions that match this filter over the partition keys.", metavar="FILTER")
]
PartitionNames = Annotated[
    list[str] | None, typer.Option("--partition", help="This partition; may be repeated.", metavar="KEY=VALUE/...")
]
Columns = Annotated[str | None, typer.Option(help="Only these columns.", metavar="A,B,...")]
Database = Annotated[str | None, typer.Option(help="The database's URL.", metavar="URL")]
HiveSite = Annotated[
    str | None, typer.Option(help="The hive-site.xml of the Hive whose database it is.", metavar="FILE")
]
Warehouse = Annotated[str | None, typer.Option(help="Where managed tables live.", metavar="DIR")]
Master = Annotated[str | None, typer.Option(help="Where Spark runs: local[*] by default.")]
SparkSettings = Annotated[
    list[str] | None, typer.Option("--conf", help="A setting of Spark; may be repeated.", metavar="KEY=VALUE")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print what would be done, and change nothing.")]
Write = Annotated[bool, typer.Option("--write", help="Change the database; without it, only a report is printed.")]
Locked = Annotated[
    str, typer.Argument(help="A database (CATALOG.DB.* in another catalog) or a table.", metavar="DB[.TABLE]")
]
AsOf = Annotated[str | None, typer.Option(help="The time: ISO 8601 with a zone, or '2h ago'.", metavar="TIME")]


def split_columns(text: str | None) -> list[str] | None:
    """The names in `--columns`, None without the option. Raises StatementError for an empty name."""
    if text is None:
        return None
    names = [each.strip() for each in text.split(",")]
    if not all(names):
        raise StatementError(f"--columns takes names separated by commas, found {text!r}")
    return names


def set_options(context: typer.Context, parameters: Collection[str]) -> list[str]:
    """The options on the command line, as `--dry-run`, among those of these parameters of the command, as `dry_run`."""
    return [
        each.opts[0]
        for each in context.command.params
        if each.name in parameters
        and (source := context.get_parameter_source(each.name)) is not None
        and source.name == "COMMANDLINE"
    ]
