"""The session's metastore, and the two ways to gather statistics of a write."""

from collections.abc import Iterator
from typing import Any

import pytest

from hmstats.client import Metastore, connect


@pytest.fixture(scope="module")
def service(spark_metastore: str) -> Iterator[Metastore]:
    with connect(spark_metastore) as found:
        yield found


@pytest.fixture(params=["rows", "files"])
def _reads(request: pytest.FixtureRequest, spark: Any) -> Iterator[None]:
    """The session reads rows on their way, or the files that are written."""
    spark.conf.set("hmstats.autogather.reads", request.param)
    yield
    spark.conf.unset("hmstats.autogather.reads")
