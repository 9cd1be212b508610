"""Revision 0023 and back: without what writes have stored, a history that relies on it begins anew."""

import time
from contextlib import closing
from pathlib import Path

from sqlalchemy import create_engine, text
from tests.service.statistics.filled import NAME, TYPES, make_table

from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics
from hmstats.model.statistics.statistics_by_field import KindOfColumn, StatisticsByField, by_kind
from hmstats.service.statistics.history.history import StatisticsHistory
from hmstats.service.statistics.history.upkeep import HistoryUpkeep, Retention
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.store.database.store import Store
from hmstats.store.database.store import database_url as database_url_of
from hmstats.store.migration import migrate

BEFORE = "0022"


def write(store: Store, times: int) -> None:
    row = ColumnStatistics("l", TYPES["l"], LongStatistics(low=1, high=2, nulls=0, ndv=2))
    given = StatisticsByField([None], "hive", [KindOfColumn("l", TYPES["l"], row.kind)], by_kind([row]))
    plain = StatisticsWriter(store).plain
    for _ in range(times):
        assert plain.write(NAME, given, of_table=True)


def test_a_downgrade_removes_the_history_and_an_upgrade_begins_another(database_url: str, tmp_path: Path) -> None:
    with closing(Store.open(database_url)) as store:
        store.enable_history()
        HistoryUpkeep(store, Retention()).run()
        make_table(store, tmp_path, [1])
        write(store, 5)
    migrate.downgrade(database_url, BEFORE)
    engine = create_engine(database_url_of(database_url))
    with engine.connect() as connection:
        assert connection.execute(text('SELECT count(*) FROM "HMSTATS_HISTORY"')).scalar_one() == 0
    engine.dispose()
    migrate.upgrade(database_url)
    with closing(Store.open(database_url)) as store:
        store.enable_history()
        HistoryUpkeep(store, Retention()).run()
        time.sleep(0.005)
        began = int(time.time() * 1000)
        time.sleep(0.005)
        write(store, 5)
        history = StatisticsHistory(store, Retention())
        assert len(history.writes(NAME).writes) == 5
        (found,) = history.past(NAME, began).sets
        assert found.columns[0].data == LongStatistics(low=1, high=2, nulls=0, ndv=2)
