"""A table in a notebook: the pictures of the page, in one piece of HTML that escapes every name."""

import pytest
from tests.web.fixture import Shown, metastore_port, shown
from tests.web.tables import SCRIPT

import hmstats
from hmstats.errors import NoSuchObject, StatementError

__all__ = ["metastore_port", "shown"]


def test_a_notebook_shows_the_picture_of_each_column(shown: Shown, metastore_port: int) -> None:
    found = hmstats.show("shop.visits", f"thrift://127.0.0.1:{metastore_port}")
    html = found._repr_html_()
    assert html.count("<svg ") == 5  # one column has nothing that can be drawn
    assert "1,000 rows" in html
    assert 'aria-label="age: 900 values' in html
    assert repr(found).splitlines()[0].startswith("shop.visits: 1,000 rows, 5.0 MiB")
    assert "  app string: 3 distinct, 0 null" in repr(found)
    with hmstats.connect(f"thrift://127.0.0.1:{metastore_port}") as service:
        of_days = hmstats.show("shop.by_day", service, where="ds <= '2024-01-30'")
        assert of_days.facts.rows is not None
        assert of_days.facts.rows.value == 300
        assert hmstats.show("shop.visits", service, as_of="0s").facts.as_of is not None


def test_names_with_markup_stay_text(shown: Shown, metastore_port: int) -> None:
    html = hmstats.show("shop.marked", f"thrift://127.0.0.1:{metastore_port}")._repr_html_()
    assert SCRIPT not in html
    assert "&lt;script&gt;" in html


def test_what_is_not_there_is_named(shown: Shown, metastore_port: int) -> None:
    address = f"thrift://127.0.0.1:{metastore_port}"
    with pytest.raises(NoSuchObject, match=r"table shop\.none is not in the metastore"):
        hmstats.show("shop.none", address)
    with pytest.raises(StatementError, match="as_of must be a time"):
        hmstats.show("shop.visits", address, as_of="yesterday")
