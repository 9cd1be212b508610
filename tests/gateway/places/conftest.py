"""Two servers of ours or two Hives, and a server before both."""

from collections.abc import Iterator

import pytest
from tests.fixtures.metastores import Metastore
from tests.gateway.places.several import Several, several


@pytest.fixture(scope="module")
def places(hmstats_sqlite: int, other_sqlite: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Several]:
    first, second = (Metastore("hmstats-sqlite", port, 4.0) for port in (hmstats_sqlite, other_sqlite))
    with several(tmp_path_factory.mktemp("places"), first, second) as found:
        yield found


@pytest.fixture(scope="module")
def hives(hive_4_0: int, hive_3_1: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Several]:
    first, second = Metastore("hive-4.0", hive_4_0, 4.0), Metastore("hive-3.1", hive_3_1, 3.1)
    with several(tmp_path_factory.mktemp("hives"), first, second) as found:
        yield found
