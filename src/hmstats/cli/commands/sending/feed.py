"""`hmstats feed`: statistics that changed, sent to a data catalog."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hmstats.cli.options import AsJson, DryRun, Server


class CatalogKind(StrEnum):
    """The catalogs that a feed knows."""

    OPENLINEAGE = "openlineage"
    DATAHUB = "datahub"
    OPENMETADATA = "openmetadata"


def feed(
    catalog: Annotated[CatalogKind, typer.Argument(help="The kind of the catalog.")],
    url: Annotated[str, typer.Argument(help="The catalog's address.", metavar="URL")],
    *,
    tables: Annotated[
        list[str] | None, typer.Option("--table", help="Only this table, now; may be repeated.", metavar="DB.TABLE")
    ] = None,
    cursor: Annotated[Path | None, typer.Option(help="The file with the position of the feed.", metavar="FILE")] = None,
    namespace: Annotated[
        str | None, typer.Option(help="OpenLineage's namespace of the tables: hive://HOST:PORT by default.")
    ] = None,
    platform: Annotated[str, typer.Option(help="DataHub's name of the platform.")] = "hive",
    environment: Annotated[str, typer.Option(help="DataHub's environment.")] = "PROD",
    prefix: Annotated[str, typer.Option(help="OpenMetadata's service and database.")] = "hive.default",
    dry_run: DryRun = False,
    metastore: Server = None,
    as_json: AsJson = False,
) -> None:
    """Send the statistics of tables that changed since the last time to a data catalog, by plain HTTP.

    The first run sends all tables. HMSTATS__FEED_TOKEN is sent as a bearer token. The exit code is 3 if some tables
    could not be sent; the next run sends them again.
    """
    from hmstats.cli.actions.sending.feed import FeedRequest, run_feed

    run_feed(
        FeedRequest(
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
