"""The cores that a server may use, where a container is limited to a share of the machine's."""

import os
import sys
from pathlib import Path

import pytest

from hmstats.cli.serving.cores import usable_cores

VISIBLE = 8
IN_CONTAINER, ON_MACHINE = "0::/\n", "0::/system.slice/hmstats.service\n"
VERSION_1 = "9:name=systemd:/\n4:memory:/docker/abc\n2:cpu,cpuacct:/docker/abc\n"


@pytest.fixture(autouse=True)
def visible_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine has so many cores."""
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(VISIBLE)), raising=False)


@pytest.mark.parametrize(
    ("own", "files", "expected"),
    [
        (IN_CONTAINER, {"cpu.max": "200000 100000\n"}, 2),
        (IN_CONTAINER, {"cpu.max": "250000 100000\n"}, 3),
        (IN_CONTAINER, {"cpu.max": "10000 100000\n"}, 1),
        (IN_CONTAINER, {"cpu.max": "max 100000\n"}, VISIBLE),
        (IN_CONTAINER, {"cpu.max": "6400000 100000\n"}, VISIBLE),
        (IN_CONTAINER, {}, VISIBLE),
        ("", {}, VISIBLE),
        (ON_MACHINE, {"system.slice/hmstats.service/cpu.max": "400000 100000\n"}, 4),
        (
            ON_MACHINE,
            {"system.slice/hmstats.service/cpu.max": "400000 100000\n", "system.slice/cpu.max": "100000 50000\n"},
            2,
        ),
        (VERSION_1, {"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3),
        (
            VERSION_1,
            {
                "cpu/docker/abc/cpu.cfs_quota_us": "50000\n",
                "cpu/docker/abc/cpu.cfs_period_us": "100000\n",
                "cpu/cpu.cfs_quota_us": "-1\n",
                "cpu/cpu.cfs_period_us": "100000\n",
            },
            1,
        ),
        (VERSION_1, {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, VISIBLE),
    ],
)
def test_the_share_of_a_container_limits_its_cores(
    tmp_path: Path, own: str, files: dict[str, str], expected: int
) -> None:
    (tmp_path / "own").write_text(own)
    for name, text in files.items():
        path = tmp_path / "groups" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert usable_cores(tmp_path / "own", tmp_path / "groups") == expected


def test_where_there_are_no_control_groups_all_cores_count(tmp_path: Path) -> None:
    assert usable_cores(tmp_path / "none", tmp_path / "none") == VISIBLE
