"""Options that several commands have: one name and one meaning everywhere. Nothing heavy is imported."""

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print a JSON object.")]
Server = Annotated[str | None, typer.Option(help="The metastore.", metavar="thrift://HOST:PORT")]
Where = Annotated[
    str | None, typer.Option(help="The partitions that match this filter over the partition keys.", metavar="FILTER")
]
PartitionNames = Annotated[
    list[str] | None, typer.Option("--partition", help="This partition; may be repeated.", metavar="KEY=VALUE/...")
]
