"""Several upstreams beside hmstats' own tables, from the settings."""

from collections.abc import Sequence
from contextlib import ExitStack

from hmstats.cli.serving.roots import warehouse_of
from hmstats.cli.serving.rules import rules_of
from hmstats.cli.serving.upstream import gateway_to
from hmstats.errors import SettingsError
from hmstats.gateway.places.places import Places, UpstreamPlace
from hmstats.gateway.places.routing import Pattern, Routing
from hmstats.server.assembly import assemble_here
from hmstats.service.mirrors.routes import OWN, StoredRoutes
from hmstats.service.mirrors.upstream_identity import check_mirrors
from hmstats.settings import Settings
from hmstats.settings.upstreams import UpstreamSetting
from hmstats.store.database.store import Store, database_url
from hmstats.store.opening import open_store


def places_of(settings: Settings, store: Store) -> Places | None:
    """The relay to several upstreams, beside the tables of a store; None if the settings name none.

    Raises SettingsError for settings that do not go together.
    """
    if not settings.upstreams:
        if settings.own_databases:
            raise SettingsError("own_databases needs upstreams: without these all databases are the server's own")
        return None
    if settings.upstream is not None:
        raise SettingsError("upstream and upstreams are both set: list the first one among the upstreams")
    _check_databases(settings)
    check_mirrors(store, are_wanted=False)
    with ExitStack() as opened:
        upstreams = {each.name: _upstream(each, settings, opened) for each in settings.upstreams}
        opened.pop_all()
    return Places(upstreams, Routing(StoredRoutes(store), _patterns(settings), _default(settings.upstreams)))


def _upstream(setting: UpstreamSetting, settings: Settings, opened: ExitStack) -> UpstreamPlace:
    """The place of an upstream, whose database `opened` closes at the end. Raises as `places_of`."""
    store = open_store(
        setting.database, pool_size=settings.upstream_connections, statement_seconds=settings.statement_seconds
    )
    opened.callback(store.close)
    check_mirrors(store, are_wanted=True)
    dispatcher, chores = assemble_here(
        store, warehouse_of(settings), rules_of(settings), mirrors=True, answers_bytes=settings.answers_bytes
    )
    gateway = gateway_to(setting.uris, settings, store, setting.name)
    return UpstreamPlace(setting.name, gateway, store, dispatcher.run, chores)


def _patterns(settings: Settings) -> Sequence[Pattern]:
    own = [Pattern(each, OWN) for each in settings.own_databases]
    return [*own, *(Pattern(text, each.name) for each in settings.upstreams for text in each.databases)]


def _default(upstreams: Sequence[UpstreamSetting]) -> str:
    return next(each.name for each in upstreams if not each.databases)


def _check_databases(settings: Settings) -> None:
    """Raise SettingsError if two upstreams, or one and the server itself, have one database."""
    seen = {database_url(settings.database): "the server itself"}
    for each in settings.upstreams:
        url = database_url(each.database)
        if url in seen:
            raise SettingsError(f"upstream {each.name} needs a database of its own, found that of {seen[url]}")
        seen[url] = f"upstream {each.name}"
