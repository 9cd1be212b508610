"""Two servers of ours, and a server before both."""

from collections.abc import Iterator

import pytest
from tests.fixtures.metastores import Metastore
from tests.gateway.places.several import Several, several


@pytest.fixture(scope="module")
def places(hmstats_sqlite: int, other_sqlite: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Several]:
    first, second = (Metastore("hmstats-sqlite", port, 4.0) for port in (hmstats_sqlite, other_sqlite))
    with several(tmp_path_factory.mktemp("places"), first, second) as found:
        yield found
