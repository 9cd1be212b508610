"""Locations of databases, tables and partitions, read as Hadoop's Path reads them.

A location is `scheme://authority/path`, `scheme:/path` or a path alone, which is one of the local file system. In the
path %, # and ? have no special meaning; `.`, `..` and doubled slashes are resolved. Source: Hadoop's class Path.
Clients of one store that have several names for it (s3, s3a, s3n) mean the same location.
"""

import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

LOCAL = "file"
_PARTS = re.compile(r"(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):)?(?://(?P<authority>[^/]*))?(?P<path>.*)", re.DOTALL)
_ONE_STORE = (("s3", "s3a", "s3n"), ("abfss", "abfs"), ("wasbs", "wasb"))
"""Schemes by which different clients name one store."""
_STORES = {name: names[0] for names in _ONE_STORE for name in names}
_SPELLINGS = {names[0]: names for names in _ONE_STORE}


@dataclass(frozen=True, slots=True)
class Location:
    """A location; two are equal if they are the same path of the same store.

    `scheme` is lower case, and s3 for s3a and s3n. `path` begins with a slash and ends without one, unless it is "/"; a
    path without a leading slash is relative.
    """

    scheme: str
    authority: str
    path: str

    def __str__(self) -> str:
        if self.scheme == LOCAL:
            return f"file:{self.path}"
        return f"{self.scheme}://{self.authority}{'' if self.is_root else self.path}"

    @property
    def is_root(self) -> bool:
        """Whether this is the root of a store, which must never be removed."""
        return self.path == "/"

    @property
    def is_absolute(self) -> bool:
        """Whether the path is absolute."""
        return self.path.startswith("/")

    @property
    def name(self) -> str:
        """The last element of the path."""
        return posixpath.basename(self.path)

    @property
    def parent(self) -> "Location":
        """The parent directory; a root is its own parent."""
        return replace(self, path=posixpath.dirname(self.path) or "/")

    def holds(self, other: "Location") -> bool:
        """Whether the other is below this directory, at any depth; no location is below itself."""
        same_store = (self.scheme, self.authority) == (other.scheme, other.authority)
        return same_store and self != other and other.path.startswith(self.path.rstrip("/") + "/")

    def parents(self) -> "list[Location]":
        """The directories above this, the nearest first, without the root."""
        found = []
        above = self.parent
        while above.is_absolute and not above.is_root:
            found.append(above)
            above = above.parent
        return found

    def spellings(self) -> list[str]:
        """All texts by which clients may name this location."""
        if self.scheme == LOCAL:
            return [f"file:{self.path}", f"file://{self.path}", self.path]
        path = "" if self.is_root else self.path
        return [f"{name}://{self.authority}{path}" for name in _SPELLINGS.get(self.scheme, (self.scheme,))]


def parse(text: str) -> Location:
    """The location that a text names."""
    scheme, authority, path = parts_of(text)
    if scheme == LOCAL and authority == "localhost":
        authority = ""
    return Location(_STORES.get(scheme, scheme), authority, _normal(path, of_store=bool(authority)))


def parts_of(text: str) -> tuple[str, str, str]:
    """Scheme (`file` where there is none), authority and path, the path as it is written."""
    parts = _PARTS.fullmatch(text)
    scheme, authority, path = parts.group("scheme", "authority", "path") if parts else (None, None, text)
    return (scheme or LOCAL).lower(), authority or "", path


def qualify(text: str) -> str:
    """The text with a scheme, without a slash at its end; a local path as Hadoop prints it, `file:/a/b`."""
    location = parse(text)
    if location.scheme == LOCAL and location.is_absolute and not location.authority:
        return str(location)
    return text.rstrip("/") if location.is_absolute else text


def is_same_location(one: str | None, other: str | None) -> bool:
    """Whether two texts name the same location."""
    return one is not None and other is not None and parse(one) == parse(other)


def below(text: str, name: str) -> str:
    """The location of a name in a directory, in the directory's own spelling."""
    return f"{text.rstrip('/')}/{name}"


def outermost(locations: Iterable[Location]) -> list[Location]:
    """The locations that are below none of the others, sorted by text and without duplicates."""
    given = set(locations)
    return sorted((each for each in given if given.isdisjoint(each.parents())), key=str)


def near(places: Iterable[str], locations: Iterable[str]) -> list[str]:
    """The locations that equal, contain or lie in one of the places, in time linear in both."""
    given = {parse(each) for each in places}
    above = {parent for each in given for parent in _with_root(each)}
    return [
        text
        for text in locations
        if (each := parse(text)) in given or each in above or not given.isdisjoint(_with_root(each))
    ]


def _with_root(location: Location) -> list[Location]:
    """The directories above a location, the root of its store too."""
    return [*location.parents(), replace(location, path="/")]


def _normal(path: str, *, of_store: bool) -> str:
    if not path:
        return "/" if of_store else ""
    return re.sub("^/+", "/", posixpath.normpath(path))
