"""A week of 1,000 changing tables, simulated: which rule of refreshing keeps most of them healthy at equal cost.

Run with `python -m scripts.simulate_week [--budget 0.1] [--figure docs/images/refresh-week.svg]`. Every rule has the same seconds of
analysis in each hour: that part of what an analysis of all tables a day would take. What counts is the share of table-hours in which
a table's health is above 80. The rule of hmstats is its own code (model/health); the others are their formulas:

- cron: all tables in the order of their names, again and again, going on where it ended an hour ago.
- TiDB: what has changed by more than half, by 0.6 log10(1 + 100 changed) + 0.1 (1 - log10(1 + rows x columns)) + 0.3
  log10(1 + sqrt(seconds since the last)); partitions one by one. Under 1,000 rows never. Without statistics first.
- CockroachDB: each minute with the chance changed / (0.2 rows + 500), whole tables, those without statistics first.
"""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hmstats.model.catalog.objects import TableName
from hmstats.model.health.health import Health, Reason, Size
from hmstats.model.health.pages import ObjectHealth
from hmstats.model.health.plan import Candidate, candidate, planned
from hmstats.model.health.runs import Speeds

HOURS, COLUMNS, ROW_BYTES, BYTES_A_SECOND, OVERHEAD_SECONDS = 168, 20, 100.0, 50e6, 1.0
SPEEDS = Speeds(of_all=BYTES_A_SECOND, overhead_seconds=OVERHEAD_SECONDS)
Numbers = NDArray[np.float64]


class World:
    """Tables, cut into pieces: partitions, or tables without any. Rows and changes are those of pieces."""

    def __init__(self, tables: int, seed: int) -> None:
        self.chance = np.random.default_rng(seed)
        partitions = np.where(self.chance.random(tables) < 0.3, self.chance.integers(30, 200, tables), 1)
        self.table = np.repeat(np.arange(tables), partitions)
        self.tables = tables
        self.rows = self.chance.lognormal(13, 2.5, tables).clip(100, 5e9)[self.table] / partitions[self.table]
        last = np.zeros(len(self.table), bool)
        last[np.cumsum(partitions) - 1] = True
        self.newest = last
        kind = self.chance.random(tables)
        self.hourly = np.where(kind < 0.2, self.chance.uniform(0.005, 0.05, tables), 0.0)[self.table]
        self.daily = np.where((kind >= 0.2) & (kind < 0.7), self.chance.uniform(0.02, 0.6, tables), 0.0)[self.table]
        self.hour_of = self.chance.integers(0, 24, tables)[self.table]
        known = self.chance.random(tables) < 0.5
        self.changed: Numbers = np.where(known[self.table], 0.0, np.inf)  # rows; inf: no statistics
        self.rows_then = self.rows.copy()
        self.stale_since = np.where(known[self.table], -1, 0)
        self.last = np.full(len(self.table), -24.0)

    def change(self, hour: int) -> None:
        """An hour of writes: to newest partitions, and now and then to an older one."""
        late = self.chance.random(len(self.table)) < 0.002
        written = self.newest | late
        part = np.where(written, self.hourly + np.where(self.hour_of == hour % 24, self.daily, 0.0), 0.0)
        rows = self.rows * part
        self.rows = self.rows + rows
        self.changed = self.changed + rows
        now_stale = (self.changed > 0) & (self.stale_since < 0)
        self.stale_since = np.where(now_stale, hour, self.stale_since)

    def health(self) -> Numbers:
        """The health of each piece, 0 to 1."""
        return np.clip(1.0 - self.changed / np.maximum(self.rows_then, 1.0), 0.0, 1.0)

    def of_tables(self) -> Numbers:
        """The health of each table, weighted by the rows of its pieces."""
        return np.bincount(self.table, self.health() * self.rows) / np.bincount(self.table, self.rows)

    def cost(self) -> Numbers:
        """The seconds of an analysis of each piece."""
        return OVERHEAD_SECONDS + self.rows * ROW_BYTES / BYTES_A_SECOND

    def analyse(self, pieces: NDArray[np.int64], hour: int) -> None:
        """New statistics of pieces."""
        self.changed[pieces], self.stale_since[pieces] = 0.0, -1
        self.rows_then[pieces], self.last[pieces] = self.rows[pieces], hour


Rule = Callable[[World, int, float], Iterator[NDArray[np.int64]]]
"""What is analysed in an hour with so many seconds, in order; whoever asks stops when they are spent."""


def hmstats(world: World, hour: int, seconds: float) -> Iterator[NDArray[np.int64]]:
    """The plan of `hmstats refresh`, of an hour's budget."""
    health, stale = world.health(), np.flatnonzero(world.changed > 0)
    wanted: list[Candidate] = []
    for piece in stale:
        size = Size(size_bytes=int(world.rows[piece] * ROW_BYTES))
        judged = Health(
            int(100 * health[piece]), Reason.CHANGED, size, size, 0, True, 1, 1, 0, _ms(world.stale_since[piece])
        )
        if judged.health < 100:
            place = ObjectHealth(TableName("hive", "d", str(world.table[piece])), str(piece), judged)
            wanted.append(candidate(place, SPEEDS, _ms(hour)))
    for work in planned(wanted, seconds, run_seconds=0.0).taken:
        yield np.array([int(each) for each in work.partitions])


def _ms(hour: float) -> int:
    return int(hour * 3_600_000)


def cron(world: World, hour: int, seconds: float) -> Iterator[NDArray[np.int64]]:
    """All tables, one after the other, from where it ended."""
    begin = int(world.table[np.argmax(world.last == world.last.max())]) + 1 if world.last.max() >= 0 else 0
    for each in range(world.tables):
        yield np.flatnonzero(world.table == (begin + each) % world.tables)


def tidb(world: World, hour: int, seconds: float) -> Iterator[NDArray[np.int64]]:
    """What has changed by more than half, by TiDB's priority."""
    ratio = np.minimum(world.changed / np.maximum(world.rows_then, 1.0), 1e6)
    missing = np.isinf(world.changed)
    score = 0.6 * np.log10(1 + 100 * ratio) + 0.1 * (1 - np.log10(1 + world.rows * COLUMNS))
    score += 0.3 * np.log10(1 + np.sqrt((hour - world.last) * 3_600)) + 2.0 * missing
    for piece in np.argsort(-score, kind="stable"):
        if world.rows[piece] >= 1_000 and (missing[piece] or ratio[piece] > 0.5):
            yield np.array([piece])


def cockroachdb(world: World, hour: int, seconds: float) -> Iterator[NDArray[np.int64]]:
    """Whole tables, by chance in the proportion of their change."""
    changed = np.bincount(world.table, np.where(np.isinf(world.changed), world.rows, world.changed))
    rows = np.bincount(world.table, world.rows_then)
    chance = 1 - (1 - np.clip(changed / (rows * 0.2 + 500), 0, 1)) ** 60
    missing = np.bincount(world.table, np.isinf(world.changed)) > 0
    drawn = np.flatnonzero(missing | (world.chance.random(world.tables) < chance))
    order = world.chance.permutation(drawn)
    for each in order[np.argsort(~missing[order], kind="stable")]:
        yield np.flatnonzero(world.table == each)


RULES: dict[str, Rule] = {"hmstats": hmstats, "TiDB": tidb, "CockroachDB": cockroachdb, "cron": cron}


def week(rule: Rule, tables: int, budget: float, seed: int) -> Numbers:
    """The share of tables with a health above 80 after each hour."""
    world, shares, saved = World(tables, seed), [], 0.0
    seconds = budget * float(world.cost().sum()) / 24
    for hour in range(HOURS):
        world.change(hour)
        left = seconds + saved
        for pieces in rule(world, hour, left):
            spent = OVERHEAD_SECONDS + float(world.rows[pieces].sum()) * ROW_BYTES / BYTES_A_SECOND
            if left <= 0:
                break
            world.analyse(pieces, hour)
            left -= spent
        saved = min(left, 0.0)  # what is spent too much is missing in the next hour
        shares.append(float((world.of_tables() > 0.8).mean()))
    return np.array(shares)


def figure(found: dict[str, Numbers], budget: float) -> str:
    """An SVG of the shares by hour."""
    colours = dict(zip(found, ("#1b6ca8", "#b4581a", "#6a6a6a", "#8a3f8f"), strict=True))
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 330" font-family="sans-serif" font-size="12">',
        f"<title>Share of 1,000 tables with a health above 80 in a week, at {budget:.0%} of a daily analysis of all</title>",
        '<rect width="720" height="330" fill="#ffffff"/>',
    ]
    for share in (0, 25, 50, 75, 100):
        y = 290 - share * 2.6
        parts.append(f'<line x1="50" x2="590" y1="{y}" y2="{y}" stroke="#dddddd"/>')
        parts.append(f'<text x="44" y="{y + 4}" text-anchor="end" fill="#333333">{share} %</text>')
    for day in range(8):
        parts.append(f'<text x="{50 + day * 540 / 7:.0f}" y="310" text-anchor="middle" fill="#333333">day {day}</text>')
    ends = _apart([290 - 260 * shares[-1] for shares in found.values()])
    for (name, shares), end in zip(found.items(), ends, strict=True):
        points = " ".join(
            f"{50 + (hour + 1) * 540 / HOURS:.1f},{290 - 260 * each:.1f}" for hour, each in enumerate(shares)
        )
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colours[name]}" stroke-width="2"/>')
        parts.append(f'<text x="596" y="{end + 4:.0f}" fill="{colours[name]}">{name}, {shares.mean():.0%}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _apart(ends: list[float]) -> list[float]:
    """Heights of labels, moved so that none covers another."""
    moved = list(ends)
    order = sorted(range(len(ends)), key=ends.__getitem__)
    for above, below in zip(order, order[1:], strict=False):
        moved[below] = max(moved[below], moved[above] + 15)
    return moved


def main() -> None:
    """Simulate, print and draw."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--tables", type=int, default=1_000)
    parser.add_argument("--budgets", type=float, nargs="+", default=[0.02, 0.05, 0.1, 0.25])
    parser.add_argument("--drawn", type=float, default=0.1, help="the budget of the figure")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--figure", type=Path)
    given = parser.parse_args()
    for budget in given.budgets:
        found = {name: week(rule, given.tables, budget, given.seed) for name, rule in RULES.items()}
        print(
            f"{budget:.0%}: " + ", ".join(f"{name} {shares.mean():.1%}" for name, shares in found.items()), flush=True
        )
        if given.figure is not None and budget == given.drawn:
            given.figure.write_text(figure(found, budget))


if __name__ == "__main__":
    main()
