"""Templates, and the functions that they can call. Everything that is not made here is escaped."""

import shlex
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse

from hmstats.model.health.runs import Outcome
from hmstats.outlets.people.cells import estimate_text
from hmstats.version import __version__
from hmstats.web.answers.columns import ColumnFacts, Frequent, FrequentValues
from hmstats.web.answers.numbers import Number
from hmstats.web.pages import addresses, cell_grid, texts
from hmstats.web.pictures.column import column_picture, nulls_part, shares
from hmstats.web.pictures.duration import duration_picture
from hmstats.web.pictures.health import health_picture
from hmstats.web.pictures.histogram import bin_text, ticks
from hmstats.web.pictures.shares import count_picture
from hmstats.web.pictures.words import part_text, value_text

STATIC = {
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "htmx.min.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
"""File to media type."""


def page(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page. `values` are what its template names."""
    text = _ENVIRONMENT.get_template(template).render(path=request.url.path, query=request.url.query, **values)
    return HTMLResponse(text, status)


def fragment(template: str, **values: Any) -> str:
    """A piece of HTML that stands by itself, with its style."""
    return _ENVIRONMENT.get_template(template).render(**values)


def static(name: str) -> bytes:
    """A file of the page's own."""
    return files("hmstats.web.pages").joinpath("static", name).read_bytes()


def _picture(column: ColumnFacts, rows: Number | None) -> Markup | None:
    found = column_picture(column, rows)
    return None if found is None else Markup(found)  # pictures.svg has escaped it


def _count_picture(each: Frequent, found: FrequentValues) -> Markup:
    most = max((one.high for one in found.sure), default=1)
    says = f"{value_text(each.value)}: {part_text(each.high / found.count if found.count else 0)} of the values"
    return Markup(count_picture(says, each.low, each.high, most))  # pictures.svg has escaped it


def _health_picture(health: int) -> Markup:
    return Markup(health_picture(health))  # pictures.svg has escaped it


def _duration_picture(seconds: float, longest_seconds: float, *, failed: bool) -> Markup:
    return Markup(duration_picture(seconds, longest_seconds, failed=failed))  # pictures.svg has escaped it


_ENVIRONMENT = Environment(
    loader=PackageLoader("hmstats.web.pages"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.globals.update(
    version=__version__,
    picture=_picture,
    count_picture=_count_picture,
    nulls_part=nulls_part,
    shares=shares,
    bin_text=bin_text,
    ticks=ticks,
    groups=cell_grid.groups,
    table_address=addresses.table_address,
    column_address=addresses.column_address,
    partitions_address=addresses.partitions_address,
    range_address=addresses.range_address,
    tables_address=addresses.tables_address,
    json_address=addresses.json_address,
    health_picture=_health_picture,
    duration_picture=_duration_picture,
    outcomes=tuple(Outcome),
    part_address=addresses.part_address,
    lock_address=addresses.lock_address,
    now_address=addresses.now_address,
    now=texts.now_text,
)
_ENVIRONMENT.filters.update(
    whole=texts.number_text,
    size=texts.size_text,
    sure=texts.sure_text,
    sure_words=texts.sure_words,
    moment=texts.time_text,
    age=texts.age_text,
    duration=texts.duration_text,
    exact_time=texts.exact_time_text,
    second=texts.second_text,
    amount=texts.amount_text,
    estimate=estimate_text,
    statistic=texts.statistic_text,
    value=value_text,
    part=part_text,
    argument=shlex.quote,
)
