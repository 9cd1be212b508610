"""The dashboard and the alert rules name metrics that are there, and Prometheus reads the rules."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.web.fixture import Shown, metastore_port, shown

__all__ = ["metastore_port", "shown"]
ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "monitoring"
_METRIC = re.compile(r"\bhmstats_\w+")
_ENDS = ("_total", "_bucket", "_sum", "_count")


def made() -> set[str]:
    """The names of all metrics that the code makes, as it names them."""
    sources = (each.read_text() for each in (ROOT / "src").rglob("*.py"))
    return {name for text in sources for name in re.findall(r'"(hmstats_\w+)"', text)}


def bare(name: str) -> str:
    return next((name.removesuffix(each) for each in _ENDS if name.endswith(each)), name)


def expressions() -> list[str]:
    panels = json.loads((FOLDER / "grafana.json").read_text())["panels"]
    return [target["expr"] for panel in panels for target in panel["targets"]]


@pytest.mark.parametrize("of", ["alerts", "dashboard"])
def test_every_metric_is_made(of: str) -> None:
    text = (FOLDER / "alerts.yml").read_text() if of == "alerts" else "\n".join(expressions())
    named = set(_METRIC.findall(text))
    assert len(named) >= 8
    known = made()
    assert {name for name in named if name not in known and bare(name) not in known} == set()


def test_panels_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in json.loads((FOLDER / "grafana.json").read_text())["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert at["x"] + at["w"] <= 24
        assert not cells & taken, panel["title"]
        taken |= cells


@pytest.mark.skipif(shutil.which("promtool") is None, reason="there is no promtool: apt-get install prometheus")
def test_prometheus_reads_rules_and_expressions(tmp_path: Path) -> None:
    rules = [
        {"record": f"panel:{place}", "expr": each.replace("$__rate_interval", "5m")}
        for place, each in enumerate(expressions())
    ]
    panels = tmp_path / "panels.yml"
    panels.write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}))
    for file in (FOLDER / "alerts.yml", panels):
        done = subprocess.run(["promtool", "check", "rules", file], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_the_page_tells_health_and_age_by_table(shown: Shown) -> None:
    found = shown.page.get("/metrics")
    assert found.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'hmstats_table_health{database="shop",table="bare"} 0.0' in found.text
    assert re.search(r'hmstats_table_stale_seconds\{database="shop",table="bare"\} \d', found.text)
    assert re.search(r'hmstats_table_statistics_age_seconds\{database="shop",table="visits"\} \d', found.text)
    assert "hmstats_tables_left_out 0.0" in found.text
