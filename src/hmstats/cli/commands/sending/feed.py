"""`hmstats feed`: statistics that changed, sent to a data catalog."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hmstats.cli.options import AsJson, Server


class CatalogKind(StrEnum):
    """The catalogs that a feed knows."""

    OPENLINEAGE = "openlineage"
    DATAHUB = "datahub"
    OPENMETADATA = "openmetadata"


def feed(
    catalog: Annotated[CatalogKind, typer.Argument(help="What the catalog speaks.")],
    url: Annotated[str, typer.Argument(help="Its address.", metavar="URL")],
    *,
    tables: Annotated[
        list[str] | None, typer.Option("--table", help="Only this table, now; may be repeated.", metavar="DB.TABLE")
    ] = None,
    cursor: Annotated[
        Path | None, typer.Option(help="The file that keeps how far the feed has come.", metavar="FILE")
    ] = None,
    namespace: Annotated[
        str | None, typer.Option(help="OpenLineage's namespace of the tables: hive://HOST:PORT by default.")
    ] = None,
    platform: Annotated[str, typer.Option(help="DataHub's name of the platform.")] = "hive",
    environment: Annotated[str, typer.Option(help="DataHub's environment.")] = "PROD",
    prefix: Annotated[str, typer.Option(help="OpenMetadata's service and database.")] = "hive.default",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and change nothing.")] = False,
    metastore: Server = None,
    as_json: AsJson = False,
) -> None:
    """Send the statistics of tables that changed since the last time to a data catalog, by plain HTTP.

    The first time all tables are sent. HMSTATS__FEED_TOKEN is sent as Bearer. The exit code is 3 if some tables could
    not be sent; they are sent again the next time.
    """
    from hmstats.cli.actions.sending.feed import Wish, run_feed

    run_feed(
        Wish(
            kind=catalog.value,
            url=url,
            tables=tables,
            cursor=cursor,
            namespace=namespace,
            platform=platform,
            environment=environment,
            prefix=prefix,
        ),
        metastore=metastore,
        dry_run=dry_run,
        as_json=as_json,
    )
