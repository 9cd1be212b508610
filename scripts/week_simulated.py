"""A week of 1,000 tables whose data change, refreshed in several orders at equal cost.

Health is judged and work is planned by the product's own functions. Time is simulated: an hour is a step, and no data
is read. Prints a Markdown table, and writes docs/images/week.svg.

    python -m scripts.week_simulated
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import log10, sqrt
from pathlib import Path
from random import Random

from hmstats.model.catalog.objects import TableName
from hmstats.model.health.health import WHOLE, Facts, Health, Size, assess
from hmstats.model.health.pages import ObjectHealth
from hmstats.model.health.plan import candidate, plan_work
from hmstats.model.health.runs import Outcome, Run, speeds
from scripts.week_figure import draw

IMAGE = Path(__file__).resolve().parents[1] / "docs" / "images" / "week.svg"
HOURS = 7 * 24
BUDGETS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Parts of what it costs to analyse every table every night."""
GOOD = 80
COLUMNS = 10
NIGHT = 1
"""The hour at which cron starts."""
_ROW_BYTES = 100
_OVERHEAD_SECONDS = 1.0
_MOST_RUNS = 1_000
_HOUR_SECONDS = 3_600


@dataclass(slots=True)
class Simulated:
    """A table: its rows, the change of their number in each hour, and its statistics' health.

    `deltas` are the rows that came (or went, negative) by hour. `bytes_a_second` is how fast it is analysed.
    """

    name: TableName
    rows: int
    deltas: Sequence[int]
    born: int
    bytes_a_second: float
    analyzed_hour: int | None
    seen_rows: int | None
    changed: int = 0
    health: Health | None = None
    finished: list[int] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """What an analysis costs now."""
        return _OVERHEAD_SECONDS + self.rows * _ROW_BYTES / self.bytes_a_second

    def judge(self, hour: int, *, marked: bool) -> None:
        """Judge its health as a server does after a change or an analysis."""
        known = self.analyzed_hour is not None
        facts = Facts(
            Size(self.rows, 1, self.rows * _ROW_BYTES),
            columns=COLUMNS,
            analyzed=COLUMNS if known else 0,
            counted=True,
            marked=marked and known,
            analyzed_at_seconds=None if self.analyzed_hour is None else self.analyzed_hour * _HOUR_SECONDS,
            seen_rows=self.seen_rows,
        )
        self.health = assess(self.health, facts, hour * _HOUR_SECONDS * 1_000)

    def change(self, hour: int) -> int:
        """Let the hour's rows come or go. Returns how many."""
        delta = self.deltas[hour] if hour > self.born else 0
        if delta or hour == self.born:
            self.rows += delta
            self.changed += abs(delta)
            self.judge(hour, marked=not delta)
        return abs(delta)

    def analyze(self, hour: int) -> float:
        """Make statistics. Returns the seconds that it takes."""
        self.analyzed_hour, self.seen_rows, self.changed = hour + 1, self.rows, 0
        self.finished.append(hour)
        self.judge(hour, marked=True)
        return self.seconds


def tables(number: int, hours: int, seed: int) -> list[Simulated]:
    """Tables of very different sizes and habits: some never change, most get rows at night, some all day."""
    random = Random(seed)
    return [_table(random, each, hours) for each in range(number)]


def _table(random: Random, number: int, hours: int) -> Simulated:
    rows = int(min(random.lognormvariate(13.5, 2.3), 2e9)) + 100
    habit = random.choices((_never, _nightly, _steadily, _churning), (40, 35, 20, 5))[0]
    new, missing = random.random() < 0.05, random.random() < 0.05
    return Simulated(
        name=TableName("hive", f"db{random.randrange(20)}", f"t{number:04}"),
        rows=rows,
        deltas=habit(random, rows, hours),
        born=random.randrange(hours) if new else 0,
        bytes_a_second=50e6 * random.lognormvariate(0, 0.5),
        analyzed_hour=None if new or missing else 0,
        seen_rows=None if new or missing else rows,
    )


def _never(_random: Random, _rows: int, hours: int) -> list[int]:
    return [0] * hours


def _nightly(random: Random, rows: int, hours: int) -> list[int]:
    """A load a day of 1 % to 30 % of the rows, at its own hour."""
    at, part = random.randrange(24), random.lognormvariate(-3.2, 0.8)
    return [int(rows * part * random.uniform(0.5, 1.5)) + 1 if hour % 24 == at else 0 for hour in range(hours)]


def _steadily(random: Random, rows: int, hours: int) -> list[int]:
    """Rows in each hour, most of them by day."""
    part = random.lognormvariate(-5.5, 1.2)
    return [int(rows * part * (1.5 if 7 <= hour % 24 < 20 else 0.4) * random.random()) for hour in range(hours)]


def _churning(random: Random, rows: int, hours: int) -> list[int]:
    """Every few hours half of the rows go, and as many come in the next hour."""
    every = random.randrange(3, 13)
    return [(-rows // 2, rows - rows // 2)[hour % every] if hour % every < 2 else 0 for hour in range(hours)]


Order = Callable[[Sequence[Simulated], int, float], Sequence[Simulated]]
"""Which tables to analyse in an hour, in this order, by a budget in seconds; it may be longer than that allows."""


@dataclass(slots=True)
class ByScore:
    """`hmstats refresh`: below full health, by benefit a second, with the speeds of its own runs."""

    runs: list[Run] = field(default_factory=list)

    def __call__(self, known: Sequence[Simulated], hour: int, budget: float) -> Sequence[Simulated]:
        """The round's plan."""
        now_ms, fast = hour * _HOUR_SECONDS * 1_000, speeds(self.runs)
        stale = {each.name: each for each in known if each.health is not None and each.health.health < WHOLE}
        candidates = [
            candidate(ObjectHealth(each.name, None, each.health), fast, now_ms)
            for each in stale.values()
            if each.health is not None
        ]
        return [stale[work.table] for work in plan_work(candidates, budget).taken]

    def note(self, table: Simulated, seconds: float) -> None:
        """Remember a run, by which speeds are predicted."""
        size = table.rows * _ROW_BYTES
        run = Run("", table.name, "", 0, Outcome.DONE, size_bytes=size, seconds=seconds)
        self.runs = [run, *self.runs[: _MOST_RUNS - 1]]


@dataclass(slots=True)
class EveryNight:
    """cron: ANALYZE of all tables by name from one o'clock on; where the budget ends, the next night goes on."""

    left: list[Simulated] = field(default_factory=list)

    def __call__(self, known: Sequence[Simulated], hour: int, _budget: float) -> Sequence[Simulated]:
        """The tables after the last one."""
        if hour % 24 != NIGHT:
            return []
        last = max(((each.finished[-1], str(each.name)) for each in known if each.finished), default=(0, ""))[1]
        ordered = sorted(known, key=lambda each: str(each.name))
        return [each for each in ordered if str(each.name) > last] + [
            each for each in ordered if str(each.name) <= last
        ]


@dataclass(frozen=True, slots=True)
class Tidb:
    """TiDB's sum of change, size and age, the highest first; of tables with more changes than a part of their rows."""

    ratio: float

    def __call__(self, known: Sequence[Simulated], hour: int, _budget: float) -> Sequence[Simulated]:
        """Its queue."""
        wanted = [each for each in known if each.analyzed_hour is None or self._is_stale(each)]
        return sorted(wanted, key=lambda each: (-tidb_score(each, hour), str(each.name)))

    def _is_stale(self, table: Simulated) -> bool:
        return table.rows >= 1_000 and table.changed / max(table.seen_rows or 1, 1) > self.ratio


def tidb_score(table: Simulated, hour: int) -> float:
    """TiDB's priority of a table."""
    since = (hour - (table.analyzed_hour or 0)) * _HOUR_SECONDS
    changed = 1.0 if table.analyzed_hour is None else table.changed / max(table.seen_rows or 1, 1)
    size = 1 - log10(1 + table.rows * COLUMNS)
    return 0.6 * log10(1 + 100 * changed) + 0.1 * size + 0.3 * log10(1 + sqrt(max(since, 0)))


@dataclass(slots=True)
class Cockroach:
    """CockroachDB's chance: changes by a fifth of the rows and 500; if none or too old, at once. First come, first
    served.
    """

    random: Random
    _queue: list[tuple[Simulated, int]] = field(default_factory=list)
    """Tables, with the number of their analyses when they were drawn."""
    _changed: dict[TableName, int] = field(default_factory=dict)

    def __call__(self, known: Sequence[Simulated], hour: int, _budget: float) -> Sequence[Simulated]:
        """Its queue, with those that are drawn in this hour."""
        self._queue = [(each, analyses) for each, analyses in self._queue if len(each.finished) == analyses]
        waiting = {each.name for each, _ in self._queue}
        drawn = [each for each in known if each.name not in waiting and self._is_drawn(each, hour)]
        self.random.shuffle(drawn)
        self._queue += [(each, len(each.finished)) for each in drawn]
        self._changed = {each.name: each.changed for each in known}
        return [each for each, _ in self._queue]

    def _is_drawn(self, table: Simulated, hour: int) -> bool:
        if table.analyzed_hour is None:
            return True
        before = self._changed.get(table.name, 0)
        new = table.changed - before if table.changed >= before else table.changed
        if not new:
            return False
        times = table.finished[-5:]
        gaps = [later - earlier for earlier, later in pairwise(times)]
        interval = sum(gaps) / len(gaps) if gaps else 12.0
        if hour - table.analyzed_hour > 2 * interval + self.random.random():
            return True
        return self.random.random() < new / (table.rows * 0.20 + 500)


ORDERS: dict[str, Callable[[], Order]] = {
    "hmstats refresh": ByScore,
    "TiDB's score, any change": lambda: Tidb(0.0),
    "CockroachDB's chance": lambda: Cockroach(Random(7)),
    "cron, all by name": EveryNight,
    "TiDB's score, above half": lambda: Tidb(0.5),
}


@dataclass(frozen=True, slots=True)
class Week:
    """An outcome: the part of all table-hours with a health above 80, and the seconds that analyses took."""

    good: float
    seconds: float
    analyses: int


def simulate(make_order: Callable[[], Order], number: int, hours: int, hourly_seconds: float, seed: int = 24) -> Week:
    """The hours of so many tables in one order. What one hour spends too much, the next ones lack."""
    every, order = tables(number, hours, seed), make_order()
    purse, good, counted, spent, analyses = 0.0, 0, 0, 0.0, 0
    for hour in range(hours):
        known = [each for each in every if each.born <= hour]
        for each in known:
            each.change(hour)
        purse += hourly_seconds
        wanted = order(known, hour, purse) if purse > 0 else ()
        for each in wanted:
            if purse <= 0:
                break
            seconds = each.analyze(hour)
            purse, spent, analyses = purse - seconds, spent + seconds, analyses + 1
            if isinstance(order, ByScore):
                order.note(each, seconds)
        good += sum(1 for each in known if each.health is not None and each.health.health > GOOD)
        counted += len(known)
        purse = min(purse, 24 * hourly_seconds)
    return Week(good / counted, spent, analyses)


def nightly_seconds(number: int, hours: int, seed: int = 24) -> float:
    """What it costs to analyse every table once, as they are at the beginning."""
    return sum(each.seconds for each in tables(number, hours, seed))


def week(number: int = 1_000, hours: int = HOURS) -> dict[str, list[Week]]:
    """Outcomes by order, for each budget."""
    hourly = nightly_seconds(number, hours) / 24
    return {name: [simulate(make, number, hours, hourly * part) for part in BUDGETS] for name, make in ORDERS.items()}


def markdown(found: dict[str, list[Week]]) -> str:
    """The table of the docs."""
    lines = [f"| budget | {' | '.join(f'{part:.0%}' for part in BUDGETS)} |", f"|---|{'---:|' * len(BUDGETS)}"]
    lines += [f"| {name} | {' | '.join(f'{each.good:.1%}' for each in some)} |" for name, some in found.items()]
    return "\n".join(lines)


def main() -> None:
    """Print the table, and write the figure."""
    found = week()
    print(markdown(found))
    print(f"\nevery table once: {nightly_seconds(1_000, HOURS) / 3_600:.1f} h")
    for name, some in found.items():
        print(f"{name}: {', '.join(f'{each.seconds / 3_600:.1f} h, {each.analyses:,}' for each in some)}")
    IMAGE.write_text(draw(BUDGETS, {name: [each.good for each in some] for name, some in found.items()}))


if __name__ == "__main__":
    main()
