"""`hmstats push`: send what waits in a spool folder to a metastore."""

from typing import Annotated

import typer

from hmstats.cli.options import AsJson, Server

_WHICH = "The spool folder, a path or a URI."
_FORCE = "Write over newer statistics too."


def push(
    spool: Annotated[str | None, typer.Argument(help=_WHICH)] = None,
    *,
    metastore: Server = None,
    force: Annotated[bool, typer.Option("--force", help=_FORCE)] = False,
    as_json: AsJson = False,
) -> None:
    """Send the statistics that wait in a spool folder, in order, and remove what is accepted.

    What the metastore refuses, and what it has newer statistics of, stays and is named; the exit code is 3 then.
    """
    from hmstats.cli.actions.sending.push import push_waiting

    push_waiting(spool=spool, metastore=metastore, force=force, as_json=as_json)
