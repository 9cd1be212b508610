"""A network that cuts, delays and halves messages: before the server, and between it and its database.

HMSTATS_TEST_NETWORK_MISHAPS says how many are waited for.
"""

import os
from pathlib import Path

import pytest
from sqlalchemy import make_url
from tests.faults.harness.bad_network import BadNetwork, bad_network
from tests.faults.harness.leaks import THREADS, check_leaks, open_files
from tests.faults.harness.worker_processes import metastore_of, workers
from tests.faults.harness.writers import Writer, go_on, patiently, summary, writing

MISHAPS = int(os.environ.get("HMSTATS_TEST_NETWORK_MISHAPS", "25"))
SEED = int(os.environ.get("HMSTATS_TEST_SEED", "1"))
WRITERS = 4


@pytest.mark.slow
def test_a_bad_network_between_clients_and_server(url: str, tmp_path: Path) -> None:
    with workers(tmp_path, url, threads=THREADS) as server, metastore_of(server.port) as direct:
        files = {pid: open_files(pid) for pid in server.alive()}
        with (
            bad_network(("127.0.0.1", server.port), SEED) as network,
            metastore_of(network.address[1]) as metastore,
            writing(direct, WRITERS, through=metastore) as writers,
            network.trouble(cut=0.05, delay=0.1, halve=0.1),
        ):
            _wait_for_mishaps(network, writers)
        for writer in writers:
            writer.check()
        direct.clients.close()
        held = check_leaks(server, url, files)
        assert server.metric("hmstats_worker_deaths") == 0
    assert any(writer.broken for writer in writers)
    print(f"{network.happened}; {summary(writers)}; no worker lost; {held}")


@pytest.mark.slow
def test_a_bad_network_between_server_and_database(postgres: str, tmp_path: Path) -> None:
    database = make_url(postgres)
    with bad_network((str(database.host), database.port or 0), SEED) as network:
        port = network.address[1]
        through = database.set(port=port).render_as_string(hide_password=False)
        with workers(tmp_path, through, threads=THREADS) as server, metastore_of(server.port) as metastore:
            files = {pid: open_files(pid) for pid in server.alive()}
            with writing(metastore, WRITERS) as writers, network.trouble(cut=0.01, delay=0.02, halve=0.05):
                _wait_for_mishaps(network, writers)
            for writer in writers:
                writer.check()
            metastore.clients.close()
            held = check_leaks(server, postgres, files, port)
            assert server.metric("hmstats_worker_deaths") == 0
    print(f"{network.happened}; {summary(writers)}; no worker lost; {held}")


def _wait_for_mishaps(network: BadNetwork, writers: list[Writer]) -> None:
    """Until enough has happened; what is stored is looked at meanwhile."""
    while network.fate.happened.total() < MISHAPS:
        go_on(writers)
        for writer in writers:
            patiently(writer.check)
