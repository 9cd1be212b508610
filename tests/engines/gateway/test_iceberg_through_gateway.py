"""PyIceberg's catalog through a gateway: the same session as at the Hive Metastore behind it."""

from pathlib import Path

import pytest
from tests.engines.gateway.upstreams import GENERATIONS, LOGGING, in_front_of, upstream
from tests.engines.iceberg.test_pyiceberg import ROWS, catalog, session
from thrift.Thrift import TApplicationException

pytestmark = [pytest.mark.engines, pytest.mark.hive, pytest.mark.slow]


@pytest.mark.parametrize("generation", [each for each in GENERATIONS if each != LOGGING])
def test_a_session_is_answered_as_without_the_gateway(generation: str, postgres_server: str, tmp_path: Path) -> None:
    with upstream(generation, tmp_path, postgres_server) as direct, in_front_of(direct, tmp_path) as port:
        expected = session(catalog(direct, tmp_path))
        assert expected["rows"]
        assert session(catalog(port, tmp_path)) == expected


def test_a_call_that_hive_4_lacks_is_unknown_through_the_gateway_too(postgres_server: str, tmp_path: Path) -> None:
    with upstream(LOGGING, tmp_path, postgres_server) as direct, in_front_of(direct, tmp_path) as port:
        for name, metastore in (("direct", direct), ("through", port)):
            at = catalog(metastore, tmp_path)
            at.create_namespace(name)
            with pytest.raises(TApplicationException, match="Invalid method name: 'get_table'"):
                at.create_table(f"{name}.t", schema=ROWS.schema)
