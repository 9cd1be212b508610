"""Converts JDBC URLs and drivers, which older settings name, to SQLAlchemy's URLs."""

import re
from collections.abc import Mapping
from urllib.parse import quote, urlencode

from hmstats.errors import SettingsError
from hmstats.jdbc_url import kind_and_rest, server_of

DIALECTS: Mapping[str, str] = {
    "postgresql": "postgresql+psycopg2",
    "mysql": "mysql+pymysql",
    "mariadb": "mariadb+pymysql",
    "sqlite": "sqlite",
}
"""The kind of a JDBC URL, with SQLAlchemy's dialect and driver for it."""
DRIVERS: Mapping[str, str] = {
    "org.postgresql.driver": "postgresql",
    "com.mysql.jdbc.driver": "mysql",
    "com.mysql.cj.jdbc.driver": "mysql",
    "org.mariadb.jdbc.driver": "mariadb",
    "org.sqlite.jdbc": "sqlite",
    "org.apache.derby.jdbc.embeddeddriver": "derby",
    "org.apache.derby.jdbc.clientdriver": "derby",
}
"""The class of a JDBC driver, in lower case, with the kind of its URLs."""


def sqlalchemy_url(connection: str) -> str:
    """Convert a JDBC URL to SQLAlchemy's form; a URL that does not begin with jdbc: stays.

    Without a driver in the URL, PostgreSQL's is the one that hmstats installs. Raises SettingsError for a database
    without a Python driver, and for an invalid URL.
    """
    parts = kind_and_rest(connection.strip())
    if parts is None:
        return re.sub("^postgres(ql)?://", f"{DIALECTS['postgresql']}://", connection.strip())
    kind, rest = parts
    if kind not in DIALECTS:
        known = ", ".join(f"jdbc:{each}" for each in DIALECTS)
        raise SettingsError(f"jdbc:{kind} cannot be reached from Python: use {known} or an SQLAlchemy URL")
    if kind == "sqlite":
        return f"sqlite:///{rest}"
    server = server_of(rest)
    if server is None or server.hosts is None or not server.database:
        raise SettingsError(f"a JDBC URL must be jdbc:{kind}://HOST[:PORT]/DATABASE[?KEY=VALUE&...]")
    query = dict(server.parameters)
    user, password = query.pop("user", None), query.pop("password", None)
    login = "" if user is None else quote(user, safe="") + (f":{quote(password, safe='')}" if password else "") + "@"
    return f"{DIALECTS[kind]}://{login}{server.hosts}/{server.database}" + (f"?{urlencode(query)}" if query else "")


def driver_of(class_name: str) -> str | None:
    """SQLAlchemy's dialect and driver for a JDBC driver's class; None for an unknown class."""
    kind = DRIVERS.get(class_name.strip().lower())
    return DIALECTS.get(kind or "")
