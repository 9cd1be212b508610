"""Converts the JDBC URL of a Hive Metastore's settings to a database URL."""

import re
from collections.abc import Mapping

from sqlalchemy import URL, make_url

from hmstats.errors import SettingsError
from hmstats.jdbc_url import kind_and_rest, server_of

_PORT = 5432
_SSL = "verify-full"
"""The sslmode equal to pgjdbc's older parameter ssl=true."""
_COPIED_PARAMETERS = ("sslmode", "sslcert", "sslkey", "sslrootcert", "currentSchema")
"""Parameters that libpq has too, and currentSchema, which connections.py reads; others are Java's own."""


def database_of(jdbc_url: str, user: str | None, password: str | None) -> str:
    """The database URL. User and password in the JDBC URL apply if they are not given separately.

    Raises SettingsError if the database is not PostgreSQL.
    """
    kind, rest = kind_and_rest(jdbc_url) or ("", "")
    server = server_of(rest) if kind == "postgresql" else None
    if server is None:
        raise SettingsError(
            "javax.jdo.option.ConnectionURL must be jdbc:postgresql://HOST:PORT/NAME, "
            f"found {_without_values(jdbc_url)}"
        )
    parameters = server.parameters
    user, password = user or parameters.get("user"), password if password is not None else parameters.get("password")
    hosts = [_host(each) for each in (server.hosts or "localhost").split(",")]
    query: dict[str, str | tuple[str, ...]] = {
        name: parameters[name] for name in _COPIED_PARAMETERS if name in parameters
    }
    if parameters.get("ssl") == "true":
        query.setdefault("sslmode", _SSL)
    url = URL.create("postgresql", user, password, database=server.database or user, query=query)
    if len(hosts) == 1:
        host, port = hosts[0]
        url = url.set(host=host, port=port)
    else:
        url = url.update_query_dict({"host": [f"{host}:{port}" for host, port in hosts]})
    return url.render_as_string(hide_password=False)


def with_schema(url: str, schema: str) -> str:
    """The database URL with a schema in which tables are created, and which is searched first."""
    parsed = make_url(url)
    others = _query_text(parsed.query, "currentSchema") or "public"
    return parsed.update_query_dict({"currentSchema": f"{schema},{others}"}).render_as_string(hide_password=False)


def _host(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":") if re.search(r":\d+$", text) else (text, "", "")
    return (host or "localhost").strip("[]"), int(port or _PORT)


def _query_text(query: Mapping[str, tuple[str, ...] | str], name: str) -> str:
    value = query.get(name, "")
    return value if isinstance(value, str) else ",".join(value)


def _without_values(jdbc_url: str) -> str:
    """The JDBC URL without its parameters, for errors: a password can be among them."""
    return re.split(r"[?;]", jdbc_url)[0] or "none"
