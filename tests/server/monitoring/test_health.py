import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.mmap_dict import MmapedDict, mmap_key

from hmstats.errors import SettingsError
from hmstats.gateway.upstream.metrics import UP
from hmstats.server.monitoring.health import serving_health
from hmstats.server.monitoring.upstream_states import UpstreamStates
from hmstats.server.sockets.port import Address, Port

_UP = "hmstats_upstream_up"


@dataclass
class Watched:
    ready: int = 0
    deaths: int = 0


def get(address: Address, path: str) -> tuple[int, str]:
    host, port = address
    try:
        with urllib.request.urlopen(f"http://{host}:{port}{path}", timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_a_server_is_ready_as_long_as_a_worker_is(tmp_path: Path) -> None:
    watched = Watched()
    with serving_health(("127.0.0.1", 0), watched, str(tmp_path)) as address:
        assert get(address, "/health/live") == (200, "alive\n")
        assert get(address, "/health/ready") == (503, "0 workers are ready\n")
        watched.ready = 2
        assert get(address, "/health/ready") == (200, "2 workers are ready\n")
        assert get(address, "/elsewhere")[0] == 404


def test_metrics_tell_of_the_workers(tmp_path: Path) -> None:
    with serving_health(("127.0.0.1", 0), Watched(ready=2, deaths=3), str(tmp_path)) as address:
        status, text = get(address, "/metrics")
    assert status == 200
    assert {"hmstats_workers 2.0", "hmstats_worker_deaths 3.0"} <= set(text.splitlines())


def test_the_file_of_a_worker_that_was_killed_before_it_was_filled(tmp_path: Path) -> None:
    (tmp_path / "histogram_17.db").touch()
    filled: Any = MmapedDict(str(tmp_path / "counter_18.db"))  # type: ignore[no-untyped-call]
    filled.write_value(mmap_key("told", "told_total", [], [], "What a worker told."), 5.0, 0.0)
    filled.close()
    with serving_health(("127.0.0.1", 0), Watched(ready=1), str(tmp_path)) as address:
        status, text = get(address, "/metrics")
    assert status == 200
    assert {"hmstats_workers 1.0", "told_total 5.0"} <= set(text.splitlines())


@pytest.mark.parametrize(("up", "needed", "status"), [(0.0, True, 503), (1.0, True, 200), (0.0, False, 200)])
def test_a_server_whose_database_is_away_is_not_ready_if_so_set(
    tmp_path: Path, up: float, needed: bool, status: int
) -> None:
    filled: Any = MmapedDict(str(tmp_path / "gauge_livemin_18.db"))  # type: ignore[no-untyped-call]
    name = "hmstats_database_up"
    filled.write_value(mmap_key(name, name, ["database"], ["sqlite"], "Whether it answers."), up, 0.0)
    filled.close()
    with serving_health(("127.0.0.1", 0), Watched(ready=1), str(tmp_path), needs_database=needed) as address:
        found = get(address, "/health/ready")
    assert found == (status, "1 workers are ready\n" if status == 200 else "the database does not answer\n")


@pytest.mark.parametrize(
    ("up", "said"),
    [
        ({}, "upstream eu was not asked yet"),
        ({"thrift://a:1": 1.0, "thrift://b:2": 1.0}, "upstream eu answers"),
        ({"thrift://a:1": 0.0, "thrift://b:2": 1.0}, "upstream eu answers, but not at thrift://a:1"),
        ({"thrift://a:1": 0.0, "thrift://b:2": 0.0}, "upstream eu does not answer at thrift://a:1, thrift://b:2"),
    ],
)
@pytest.mark.parametrize("needed", [True, False])
def test_each_upstream_is_told_by_name(tmp_path: Path, up: dict[str, float], said: str, needed: bool) -> None:
    filled: Any = MmapedDict(str(tmp_path / "gauge_livemin_18.db"))  # type: ignore[no-untyped-call]
    for each, value in up.items():
        filled.write_value(mmap_key(_UP, _UP, ["address"], [each], "Whether it answers."), value, 0.0)
    filled.close()
    states = UpstreamStates({"upstream eu": ["thrift://a:1", "thrift://b:2"]}, needed)
    with serving_health(("127.0.0.1", 0), Watched(ready=1), str(tmp_path), upstreams=states) as address:
        found = get(address, "/health/ready")
    answers = any(up.values())
    assert found == (200 if answers or not needed else 503, f"1 workers are ready\n{said}\n")


def test_the_gauge_of_upstreams_is_the_gateways() -> None:
    assert UP._name == _UP
    assert UP._multiprocess_mode == "livemin"


def test_an_http_port_that_is_taken(tmp_path: Path) -> None:
    with (
        Port(("127.0.0.1", 0)) as port,
        port.listen(),
        pytest.raises(SettingsError, match=f"cannot listen on 127.0.0.1:{port.address[1]}: Address already in use"),
        serving_health(port.address, Watched(), str(tmp_path)),
    ):
        pytest.fail("it was not refused")
