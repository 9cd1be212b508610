"""Analyses an Iceberg table until it is killed: `python -m tests.faults.harness.analyst CATALOG URI TABLE [STEP]`.

CATALOG is `metastore`, whose address is the URI, or `sql`. Prints a line after each analysis. With a step of STEPS it
kills itself there, by SIGKILL.
"""

import os
import signal
import sys
from contextlib import closing
from typing import Any

from tests.collector.lake.test_delta import analyzed

from hmstats import client
from hmstats.client.iceberg_commits import IcebergCommits
from hmstats.collector.lake.catalogs.analysis import analyze_in_catalog
from hmstats.collector.lake.catalogs.named import open_catalog
from hmstats.collector.lake.catalogs.sql_pointer import SqlPointer
from hmstats.collector.lake.iceberg import table_files
from hmstats.collector.options import Options

ALL = Options(puffin_columns="all")
STEPS = ("file is written", "metadata are written", "commit is done")


def analyze(catalog: str, uri: str, table: str) -> None:
    """Analyse the table once."""
    if catalog == "sql":
        with closing(open_catalog("lake")) as lake:
            analyze_in_catalog(lake.table(table), options=ALL)
        return
    with client.connect(uri) as service:
        analyzed(service, table, options=ALL)


def die_after(step: str) -> None:
    """Let this process be killed when a step is done."""
    pointer: Any
    for pointer in (IcebergCommits, SqlPointer):
        replace = pointer.replace

        def replace_and_die(*given: Any, replace: Any = replace) -> bool:
            if step != STEPS[2] or replace(*given):
                _die()
            return False  # another commit came before: it is tried again

        pointer.replace = replace_and_die
    if step == STEPS[0]:
        setattr(table_files, "write_metadata", _die)  # noqa: B010 - its type differs


def _die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    CATALOG, URI, TABLE, *STEP = sys.argv[1:]
    os.environ["PYICEBERG_CATALOG__LAKE__TYPE"], os.environ["PYICEBERG_CATALOG__LAKE__URI"] = "sql", URI
    for each in STEP:
        die_after(each)
    while True:
        analyze(CATALOG, URI, TABLE)
        print("analysed", flush=True)
