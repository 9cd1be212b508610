"""`hmstats push`: send the statistics in a spool folder to a metastore."""

from typing import Annotated

import typer

from hmstats.cli.options import AsJson, Server

_WHICH = "The spool folder, a path or a URI."
_FORCE = "Overwrite newer statistics too."


def push(
    spool: Annotated[str | None, typer.Argument(help=_WHICH)] = None,
    *,
    metastore: Server = None,
    force: Annotated[bool, typer.Option("--force", help=_FORCE)] = False,
    as_json: AsJson = False,
) -> None:
    """Send the statistics in a spool folder, in order, and remove the files that are accepted.

    A file stays, and is named, if the metastore refuses it or has newer statistics; the exit code is 3 then.
    """
    from hmstats.cli.actions.sending.push import push_waiting

    push_waiting(spool=spool, metastore=metastore, force=force, as_json=as_json)
