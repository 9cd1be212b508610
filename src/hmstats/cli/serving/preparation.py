"""The first process of `hmstats serve`: checks settings and database, and tells the parent its plan.

All clients wait for it, so modules that only some settings or this process alone need are imported where they are used.
"""

import contextlib
import os
import sys

from hmstats.cli.exit_codes import ExitCode
from hmstats.cli.serving import logs
from hmstats.cli.serving.cores import usable_cores
from hmstats.cli.serving.plan import Plan
from hmstats.cli.serving.roots import warehouse_of, warn_of_roots
from hmstats.cli.serving.security.access import access_of, warn_of_strangers
from hmstats.cli.serving.security.authentication import authentication_of
from hmstats.cli.serving.security.tls import tls_of
from hmstats.cli.serving.serve_settings import is_alone, load_served
from hmstats.errors import HmstatsError, SettingsError
from hmstats.service.mirrors.upstream_identity import check_mirrors
from hmstats.service.preparation import prepare as prepare_catalog
from hmstats.settings import MOST_WORKERS, Settings
from hmstats.store.database.store import Store, database_url
from hmstats.store.opening import open_store


def prepare(answer: int) -> int:
    """Write the plan to the file descriptor `answer`, once a server could start; returns the exit code.

    An error is one sentence on standard error.
    """
    try:
        plan = _check_settings()
    except HmstatsError as error:
        print(f"hmstats: {error}", file=sys.stderr)
        return ExitCode.ERROR
    with contextlib.suppress(BrokenPipeError), os.fdopen(answer, "w") as parent:  # the parent was told to end
        parent.write(plan.to_text())
    return 0


def _check_settings() -> Plan:
    settings = load_served()
    workers = settings.workers or (1 if settings.exclusive else min(usable_cores(), MOST_WORKERS))
    alone = is_alone(settings, workers)
    logs.configure(settings.log_level)
    _prepare_database(settings, alone=alone)
    if settings.http_page:
        from hmstats.cli.serving.page import check_mounted  # noqa: PLC0415 - see above

        check_mounted(settings)
    return Plan(
        host=settings.host,
        port=settings.port,
        http_port=settings.http_port,
        ready_needs_database=settings.ready_needs_database,
        ready_needs_upstreams=settings.ready_needs_upstreams,
        upstreams=_upstream_addresses(settings),
        http_page=settings.http_page,
        page_over_tls=settings.web_tls_certificate is not None,
        workers=workers,
        alone=alone,
        drain_seconds=settings.drain_seconds,
        log_level=settings.log_level,
    )


def make_embedded_mirrors(settings: Settings) -> None:
    """Create or upgrade the schemas of embedded databases for upstreams' statistics."""
    for each in settings.upstreams:
        if database_url(each.database).get_backend_name() == "sqlite":
            _upgrade(each.database)


def make_embedded(settings: Settings) -> None:
    """Create or upgrade the schema of an embedded database."""
    if database_url(settings.database).get_backend_name() == "sqlite" and not settings.read_only:
        _upgrade(settings.database)


def _upgrade(url: str) -> None:
    from hmstats.store.migration import migrate  # noqa: PLC0415 - no other process needs it

    migrate.upgrade(url)


def _prepare_database(settings: Settings, *, alone: bool) -> None:
    """Raise now any error about the database. Only the schema of an embedded one is created or upgraded."""
    make_embedded(settings)
    store = open_store(
        settings.database, pool_size=1, statement_seconds=settings.statement_seconds, read_only=settings.read_only
    )
    if alone and store.shape.beside_hive:
        raise SettingsError("a server beside a Hive cannot have exclusive use of the database: set exclusive to false")
    warn_of_roots(settings)
    tls_of(settings)
    access_of(settings)
    make_embedded_mirrors(settings)
    _check_upstreams(settings, store)
    warn_of_strangers(settings)
    authentication_of(settings, store)
    prepare_catalog(store, warehouse_of(settings))
    store.close()


def _check_upstreams(settings: Settings, store: Store) -> None:
    """Raise SettingsError for upstreams that cannot be served from this database."""
    if settings.upstream is None and not settings.upstreams and not settings.own_databases:
        check_mirrors(store, are_wanted=False)
        return
    from hmstats.cli.serving.places import places_of  # noqa: PLC0415 - see above
    from hmstats.cli.serving.upstream import relay_of  # noqa: PLC0415 - see above

    places = places_of(settings, store)
    if places is None:
        relay_of(settings, store)
    else:
        places.close()


def _upstream_addresses(settings: Settings) -> dict[str, list[str]]:
    """The addresses of each upstream, by its name in sentences."""
    if settings.upstream is None and not settings.upstreams:
        return {}
    from hmstats.cli.serving.upstream import upstream_addresses  # noqa: PLC0415 - see above

    return upstream_addresses(settings)
