"""A database's URL for logs, errors and clients, without its secrets and its driver."""

from sqlalchemy import URL

_SECRETS = frozenset({"password", "passfile", "sslpassword", "sslkey"})
"""Parameters of PostgreSQL's URL that are secrets, or files with secrets."""


def shown_url(url: URL) -> str:
    """The URL as text, as people write it, with each secret replaced by ***."""
    hidden = {name: "***" for name in url.query if name.lower() in _SECRETS}
    plain = url.set(drivername=url.get_backend_name()).update_query_dict(hidden)
    return plain.render_as_string(hide_password=True).replace("%2A%2A%2A", "***")
