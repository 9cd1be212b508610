"""Checks of the metastore: connection, version, clock, warehouse, and the roots that its databases need."""

import time
from collections.abc import Iterator

from hmstats.cli.diagnosis.finding import Finding, ok, problem, warning
from hmstats.client import Metastore, connect
from hmstats.client.connection.address import addresses
from hmstats.errors import HmstatsError, ServiceError
from hmstats.model.catalog.location import LOCAL, outermost, parse
from hmstats.server.sockets.port import is_loopback

_MOST_SECONDS_OFF = 5.0
_TIMEOUT_SECONDS = 10.0
_EVERYWHERE = "*"


def server(uris: str) -> Iterator[Finding]:
    """A finding for each address, then findings about the first metastore that answers."""
    answering = None
    for address in addresses(uris):
        found = _check_address(str(address))
        yield found
        if found.level == "ok" and answering is None:
            answering = str(address)
    if answering is None:
        return
    with connect(answering, timeout_seconds=_TIMEOUT_SECONDS, retries=0) as service:
        yield _clock(service)
        yield from _warehouse(service, remote=not is_loopback(addresses(answering)[0].host))


def _check_address(address: str) -> Finding:
    try:
        with connect(address, timeout_seconds=_TIMEOUT_SECONDS, retries=0) as service:
            return ok("metastore", f"{service.version()} answers at {address}")
    except HmstatsError as error:
        advice = "start `hmstats serve`, or name the metastore with --metastore or HMSTATS__METASTORE"
        return problem("metastore", str(error), advice)


def _clock(service: Metastore) -> Finding:
    """The difference of both clocks, as exact as the duration of the call allows."""
    before = time.time()
    there = service.now_seconds()
    after = time.time()
    if there is None:
        return ok("clock", f"{service.address} does not say its time")
    off = there - (before + after) / 2
    if abs(off) - (after - before) / 2 > _MOST_SECONDS_OFF:
        way = "ahead of" if off > 0 else "behind"
        found = f"that of {service.address} is {abs(off):,.1f} seconds {way} this machine's"
        return warning("clock", found, "set both by NTP: ages, staleness and expired events go by the clocks")
    return ok("clock", f"that of {service.address} differs by {abs(off):.1f} seconds")


def _warehouse(service: Metastore, *, remote: bool) -> Iterator[Finding]:
    """The server's warehouse, and the databases outside of the roots in which it changes directories."""
    place = service.config_value("metastore.warehouse.dir")
    if not place:
        yield ok("warehouse", f"{service.address} does not say where it is")
        return
    warehouse = parse(place)
    if remote and warehouse.scheme == LOCAL:
        advice = "mount it at the same path on every machine that runs an engine, or serve with --warehouse s3://..."
        yield warning("warehouse", f"{place}, a folder of another machine", advice)
    else:
        yield ok("warehouse", place)
    try:
        locations = service.database_locations()
    except ServiceError as error:
        yield warning("databases", f"cannot be listed: {error}", "look into the server's log")
        return
    roots = [each for each in service.config_value("metastore.warehouse.roots").split(",") if each]
    if not roots:
        yield ok("databases", f"{len(locations):,}; {service.address} does not say where it changes directories")
        return
    yield _roots([place, *roots], locations)


def _roots(roots: list[str], locations: dict[str, str]) -> Finding:
    """The databases outside of the roots, which cannot be dropped or renamed, and roots that would hold them."""
    inside = [parse(each) for each in roots if each != _EVERYWHERE]
    outside = {
        name: parse(place)
        for name, place in locations.items()
        if _EVERYWHERE not in roots and not any(parse(place) == each or each.holds(parse(place)) for each in inside)
    }
    if not outside:
        return ok("databases", f"{len(locations):,}, all where the server makes, moves and removes directories")
    beside = {name: place.name == f"{name}.db" and not place.parent.is_root for name, place in outside.items()}
    prefixes = (place.parent if beside[name] else place for name, place in outside.items())
    needed = ",".join(map(str, outermost(prefixes)))
    names = ", ".join(sorted(outside)[:5])
    found = f"{len(outside):,} lie where the server changes no directories: {names}"
    return warning("databases", found, f"serve with HMSTATS__WAREHOUSE_ROOTS={needed}")
