"""No secret of a database's URL is shown, wherever in it that stands."""

import pytest

from hmstats.errors import StoreUnavailable
from hmstats.store.connections.shown_url import shown_url
from hmstats.store.database.store import Store, database_url


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("sqlite:///x.sqlite", "sqlite:///x.sqlite"),
        ("postgresql://ada:hush@db/m", "postgresql://ada:***@db/m"),
        ("postgresql://db/m?user=ada&password=hush", "postgresql://db/m?password=***&user=ada"),
        ("postgresql://ada@db/m?PassWord=hush", "postgresql://ada@db/m?PassWord=***"),
        (
            "postgresql://ada@db/m?sslpassword=hush&passfile=/x",
            "postgresql://ada@db/m?passfile=***&sslpassword=***",
        ),
        ("postgresql://ada:hush%40@db/m?password=a%26b", "postgresql://ada:***@db/m?password=***"),
    ],
)
def test_a_url_without_its_secrets(url: str, shown: str) -> None:
    assert shown_url(database_url(url)) == shown


def test_an_error_has_no_secret_of_the_url() -> None:
    store = Store.open("postgresql://ada@127.0.0.1:1/m?password=hush", statement_seconds=2)
    with pytest.raises(StoreUnavailable) as caught, store.read():
        pass
    store.close()
    assert "hush" not in str(caught.value)
    assert "password=***" in str(caught.value)
