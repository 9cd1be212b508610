"""`hmstats compare`: the statistics of two tables, partitions, metastores or times side by side."""

from typing import Annotated

import typer

from hmstats.cli.options import AsJson, Server

_SIDE = (
    "DB.TABLE or DB.TABLE/KEY=VALUE/..., alone or behind thrift://HOST:PORT/ or an exported FILE/; "
    "thrift://HOST:PORT or FILE alone means all tables."
)


def compare(
    left: Annotated[str, typer.Argument(help=_SIDE, metavar="A")],
    right: Annotated[str, typer.Argument(help="The other side, in the same forms.", metavar="B")],
    *,
    as_json: AsJson = False,
    everything: Annotated[bool, typer.Option("--all", help="Print the numbers that are the same too.")] = False,
    metastore: Server = None,
) -> None:
    """Print what differs in the statistics of two tables, partitions, metastores or times, side by side.

    --metastore is for a side that names none. A file that hmstats export wrote is a metastore at that time. The q-error
    is the factor between two counts. The exit code is 1 when anything differs.
    """
    from hmstats.cli.actions.compare import compare_sides

    compare_sides(left=left, right=right, as_json=as_json, everything=everything, metastore=metastore)
