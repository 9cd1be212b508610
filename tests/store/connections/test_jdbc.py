import pytest
from sqlalchemy import make_url

from hmstats.errors import SettingsError
from hmstats.store.connections.jdbc import database_of, with_schema


@pytest.mark.parametrize(
    ("jdbc", "url"),
    [
        ("jdbc:postgresql://db.example:5433/metastore", "postgresql://hive:p%40ss@db.example:5433/metastore"),
        ("jdbc:postgresql://db.example/metastore", "postgresql://hive:p%40ss@db.example:5432/metastore"),
        ("jdbc:postgresql:metastore", "postgresql://hive:p%40ss@localhost:5432/metastore"),
        ("jdbc:postgresql://[::1]:5433/metastore", "postgresql://hive:p%40ss@[::1]:5433/metastore"),
        (
            "jdbc:postgresql://db/m?sslmode=require&ApplicationName=hive&currentSchema=hive",
            "postgresql://hive:p%40ss@db:5432/m?currentSchema=hive&sslmode=require",
        ),
        ("jdbc:postgresql://db/m?ssl=true", "postgresql://hive:p%40ss@db:5432/m?sslmode=verify-full"),
    ],
)
def test_a_jdbc_url_names_the_same_database(jdbc: str, url: str) -> None:
    assert make_url(database_of(jdbc, "hive", "p@ss")) == make_url(url)


def test_several_hosts_stay_in_their_order() -> None:
    found = make_url(database_of("jdbc:postgresql://a:1,b/m", "hive", None))
    assert found.query["host"] == ("a:1", "b:5432")


def test_user_and_password_may_be_in_the_url() -> None:
    found = make_url(database_of("jdbc:postgresql://db/m?user=ann&password=secret", None, None))
    assert (found.username, found.password) == ("ann", "secret")


def test_values_in_the_url_are_decoded_as_the_driver_does() -> None:
    found = make_url(database_of("jdbc:postgresql://db/m?user=an%6e&password=p%40ss%26", None, None))
    assert (found.username, found.password) == ("ann", "p@ss&")


@pytest.mark.parametrize("jdbc", ["jdbc:mysql://db/m?password=secret", "jdbc:derby:;databaseName=m", "", "x"])
def test_another_database_is_refused_without_its_password(jdbc: str) -> None:
    with pytest.raises(SettingsError, match=r"must be jdbc:postgresql://HOST:PORT/NAME, found ") as refused:
        database_of(jdbc, None, None)
    assert "secret" not in str(refused.value)


def test_a_schema_comes_before_the_others() -> None:
    assert make_url(with_schema("postgresql://u@h/m", "own")).query["currentSchema"] == "own,public"
    assert make_url(with_schema("postgresql://u@h/m?currentSchema=hive", "own")).query["currentSchema"] == "own,hive"
