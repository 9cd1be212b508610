"""A database as Java names it: the JDBC URL of a Hive Metastore's settings, as a URL of ours."""

import re
from collections.abc import Mapping

from sqlalchemy import URL, make_url

from hmstats.errors import SettingsError

_SCHEME = "jdbc:postgresql:"
_PLACE = re.compile(r"(?://(?P<hosts>[^/?]*)/)?(?P<database>[^/?]*)(?:\?(?P<more>.*))?")
_PORT = 5432
_SSL = "verify-full"
"""The sslmode that pgjdbc's older parameter ssl=true stands for."""
_TAKEN = ("sslmode", "sslcert", "sslkey", "sslrootcert", "currentSchema")
"""Parameters that mean the same to libpq, and the schemas, which store/connections.py takes; others are Java's own."""


def database_of(jdbc_url: str, user: str | None, password: str | None) -> str:
    """The URL of the database. User and password in the JDBC URL count where they are not given apart.

    Raises SettingsError for a database that is not PostgreSQL's.
    """
    found = _PLACE.fullmatch(jdbc_url.removeprefix(_SCHEME)) if jdbc_url.startswith(_SCHEME) else None
    if found is None:
        raise SettingsError(
            "javax.jdo.option.ConnectionURL must be jdbc:postgresql://HOST:PORT/NAME, "
            f"found {_without_values(jdbc_url)}"
        )
    given = dict(each.partition("=")[::2] for each in (found["more"] or "").split("&") if each)
    user, password = user or given.get("user"), password if password is not None else given.get("password")
    hosts = [_host(each) for each in (found["hosts"] or "localhost").split(",")]
    query: dict[str, str | tuple[str, ...]] = {name: given[name] for name in _TAKEN if name in given}
    if given.get("ssl") == "true":
        query.setdefault("sslmode", _SSL)
    url = URL.create("postgresql", user, password, database=found["database"] or user, query=query)
    if len(hosts) == 1:
        host, port = hosts[0]
        url = url.set(host=host, port=port)
    else:
        url = url.update_query_dict({"host": [f"{host}:{port}" for host, port in hosts]})
    return url.render_as_string(hide_password=False)


def with_schema(url: str, schema: str) -> str:
    """The database's URL, tables being made in the schema, and looked for there before anywhere else."""
    parsed = make_url(url)
    others = _text(parsed.query, "currentSchema") or "public"
    return parsed.update_query_dict({"currentSchema": f"{schema},{others}"}).render_as_string(hide_password=False)


def _host(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":") if re.search(r":\d+$", text) else (text, "", "")
    return (host or "localhost").strip("[]"), int(port or _PORT)


def _text(query: Mapping[str, tuple[str, ...] | str], name: str) -> str:
    found = query.get(name, "")
    return found if isinstance(found, str) else ",".join(found)


def _without_values(jdbc_url: str) -> str:
    """As much as an error may show: a password can be among the parameters."""
    return re.split(r"[?;]", jdbc_url)[0] or "none"
