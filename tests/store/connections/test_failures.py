"""What the caller of a database that refuses is told."""

from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

from hmstats.store.connections.failures import translate


def test_a_file_that_may_not_be_written_is_told_with_the_rights_that_it_needs(tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite"
    path.touch()
    engine = create_engine(f"sqlite:///file:{path}?mode=ro&uri=true")
    with engine.connect() as connection, pytest.raises(OperationalError) as refused:
        connection.execute(text("CREATE TABLE t (n INTEGER)"))
    engine.dispose()
    assert str(translate(refused.value, "sqlite:///m.sqlite")) == (
        "database sqlite:///m.sqlite refuses the statement: attempt to write a readonly database; its user needs the "
        "right to write the file and its folder, also to read"
    )
