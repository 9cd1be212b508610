"""JDBC's URLs and drivers as SQLAlchemy's."""

import pytest
from sqlalchemy import make_url

from hmstats.collector.autogather.publishers.jdbc import driver_of, sqlalchemy_url
from hmstats.errors import SettingsError


@pytest.mark.parametrize(
    ("jdbc", "url"),
    [
        ("jdbc:postgresql://host:5433/stats", "postgresql+psycopg2://host:5433/stats"),
        (
            "jdbc:postgresql://host/stats?user=ada&password=p%40ss/word&sslmode=require",
            "postgresql+psycopg2://ada:p%40ss%2Fword@host/stats?sslmode=require",
        ),
        ("jdbc:mysql://host:3306/stats?user=ada", "mysql+pymysql://ada@host:3306/stats"),
        ("jdbc:mariadb://host/stats", "mariadb+pymysql://host/stats"),
        ("jdbc:sqlite:/tmp/stats.db", "sqlite:////tmp/stats.db"),
        ("sqlite:///stats.db", "sqlite:///stats.db"),
        ("postgresql://host/stats", "postgresql+psycopg2://host/stats"),
        ("oracle+oracledb://host/?service_name=x", "oracle+oracledb://host/?service_name=x"),
    ],
)
def test_urls(jdbc: str, url: str) -> None:
    assert sqlalchemy_url(jdbc) == url
    make_url(url)


def test_a_password_with_marks_arrives_whole() -> None:
    url = make_url(sqlalchemy_url("jdbc:postgresql://host/stats?user=a%20b&password=%3A%2F%40%25%26"))
    assert (url.username, url.password, url.host, url.database) == ("a b", ":/@%&", "host", "stats")


@pytest.mark.parametrize("kind", ["derby", "oracle", "sqlserver", "hsqldb"])
def test_a_database_that_python_does_not_reach(kind: str) -> None:
    with pytest.raises(SettingsError, match=f"jdbc:{kind} cannot be reached from Python: use jdbc:postgresql"):
        sqlalchemy_url(f"jdbc:{kind}:;databaseName=TempStatsStore;create=true")


@pytest.mark.parametrize("url", ["jdbc:postgresql:stats", "jdbc:mysql://host", "jdbc:mysql://host/"])
def test_a_url_without_host_or_database(url: str) -> None:
    with pytest.raises(SettingsError, match="a JDBC URL must be"):
        sqlalchemy_url(url)


def test_what_stands_for_a_drivers_class() -> None:
    assert driver_of("org.postgresql.Driver") == "postgresql+psycopg2"
    assert driver_of(" com.mysql.jdbc.Driver ") == "mysql+pymysql"
    assert driver_of("org.apache.derby.jdbc.EmbeddedDriver") is None
    assert driver_of("com.example.Driver") is None
