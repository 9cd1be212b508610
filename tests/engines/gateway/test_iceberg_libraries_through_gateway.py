"""Iceberg's libraries in Go and Rust through a gateway: every answer as at the Hive Metastore behind it."""

from pathlib import Path

import pytest
from tests.engines.gateway.upstreams import GENERATIONS, LOGGING, in_front_of, upstream
from tests.peers.go_clients import programs as go
from tests.peers.rust_clients import programs as rust

pytestmark = [pytest.mark.engines, pytest.mark.hive, pytest.mark.slow]


@pytest.mark.parametrize("generation", [each for each in GENERATIONS if each != LOGGING])
def test_go_is_answered_as_without_the_gateway(generation: str, postgres_server: str, tmp_path: Path) -> None:
    with upstream(generation, tmp_path, postgres_server) as direct, in_front_of(direct, tmp_path) as port:
        expected = go.answers("session", direct, tmp_path / "direct")
        assert go.answers("session", port, tmp_path / "through") == expected


def test_rust_is_answered_as_without_the_gateway(postgres_server: str, tmp_path: Path) -> None:
    """Before Hive 2.3.10; a 3.1.3 on MariaDB cuts what it is given to what its columns hold."""
    with upstream("2.3", tmp_path, postgres_server) as direct, in_front_of(direct, tmp_path) as port:
        expected = rust.answers(direct, tmp_path / "direct")
        assert rust.answers(port, tmp_path / "through") == expected


def test_statistics_are_answered_as_without_the_gateway(postgres_server: str, tmp_path: Path) -> None:
    """Marks of accuracy are the upstream's, which has them at once when writes go through."""
    with (
        upstream(LOGGING, tmp_path, postgres_server) as direct,
        in_front_of(direct, tmp_path, writes="through") as port,
    ):
        expected = go.answers("statistics", direct, tmp_path / "direct")
        assert go.answers("statistics", port, tmp_path / "through") == expected
