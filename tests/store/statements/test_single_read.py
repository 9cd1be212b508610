"""Reads of one statement, on connections whose session is another than it was."""

import pytest
from sqlalchemy import select

from hmstats.store.connections.connections import connect
from hmstats.store.connections.connections import database_url as store_url
from hmstats.store.schema import VERSION
from hmstats.store.statements.single_read import SingleRead, listed

READ = SingleRead(lambda one_of: select(VERSION.c.VER_ID).where(one_of(VERSION.c.SCHEMA_VERSION, "releases")))


@pytest.mark.parametrize("forgets", [True, False])
def test_another_session_behind_the_same_connection_answers_too(postgres_url: str, forgets: bool) -> None:
    """As behind a pooler: nothing is prepared there, or it is although this connection never asked for it."""
    checkers = connect(store_url(postgres_url), 1, 30.0).checkers
    for _ in range(3):
        assert READ.rows(checkers, {"releases": listed(checkers, ["4.0.0", "100%"])}) == [(1,)]
        lent = checkers.raw_connection()
        if forgets:
            lent.cursor().execute("DEALLOCATE ALL")
        else:
            lent.info.clear()
        lent.close()
    checkers.dispose()


def test_both_databases_answer_again_and_again(database_url: str) -> None:
    checkers = connect(store_url(database_url), 1, 30.0).checkers
    for wanted, expected in ((["4.0.0"], [(1,)]), (["3.1.0"], []), ([], []), (["4.0.0"], [(1,)])):
        assert READ.rows(checkers, {"releases": listed(checkers, wanted)}) == expected
    checkers.dispose()
