"""Finds the place of a database: where it was moved to, else by the patterns in the settings, else the default one.

Routes are read again when they are LEASE_SECONDS old, so a change of a route waits for SETTLED_SECONDS, after which all
servers have seen it.
"""

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from hmstats.errors import StoreUnavailable
from hmstats.model.catalog.objects import DEFAULT_CATALOG, DatabaseName
from hmstats.service.mirrors.routes import Route, StoredRoutes

LEASE_SECONDS = 0.5
SETTLED_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern of database names, and the place of the databases that it matches.

    The pattern is matched with the names of databases in the catalog `hive`, and with CATALOG.DATABASE of others.
    """

    text: str
    place: str


class Routing:
    """The places of all databases. Thread-safe. The first pattern that matches counts; `default` is an upstream."""

    def __init__(self, stored: StoredRoutes, patterns: Sequence[Pattern], default: str) -> None:
        self.default = default
        self.stored = stored
        self._patterns = patterns
        self._routes: Mapping[DatabaseName, Route] = {}
        self._read_at: float | None = None
        self._lock = threading.Lock()

    def route(self, name: DatabaseName) -> Route:
        """The route of a database. Raises StoreUnavailable."""
        return self._route_in(self._stored_routes(), name)

    def known_route(self, name: DatabaseName) -> Route:
        """The route of a database, without waiting. Raises StoreUnavailable if the routes must be read again."""
        if not self._is_fresh:
            raise StoreUnavailable("the routes of databases must be read anew")
        return self._route_in(self._routes, name)

    def settle(self) -> None:
        """Wait until all servers have seen the routes that are stored now."""
        time.sleep(SETTLED_SECONDS)
        self._read_at = None

    def place_by_settings(self, name: DatabaseName) -> str:
        """The place of a database according to the settings."""
        text = name.database if name.catalog == DEFAULT_CATALOG else f"{name.catalog}.{name.database}"
        return next((each.place for each in self._patterns if fnmatchcase(text, each.text.lower())), self.default)

    def _route_in(self, moved: Mapping[DatabaseName, Route], name: DatabaseName) -> Route:
        return moved.get(name) or Route(self.place_by_settings(name))

    @property
    def _is_fresh(self) -> bool:
        read_at = self._read_at
        return read_at is not None and time.monotonic() - read_at < LEASE_SECONDS

    def _stored_routes(self) -> Mapping[DatabaseName, Route]:
        if self._is_fresh:
            return self._routes
        with self._lock:
            if not self._is_fresh:
                began = time.monotonic()
                self._routes = self.stored.read()
                self._read_at = began
            return self._routes
