"""Theta sketches for a table's own metadata: chooses the columns, and registers the sketches."""

from collections.abc import Callable, Collection, Mapping

import pyarrow as pa

from hmstats.collector.lake.opened import LakeTable
from hmstats.collector.options import Options
from hmstats.collector.report import PuffinFile
from hmstats.collector.request.statement import Statement
from hmstats.errors import InvalidInput, ServiceError
from hmstats.model.preferences.values import PUFFIN_ALL, PUFFIN_NONE, PUFFIN_TEXT
from hmstats.sketch.distinct.theta import ThetaSketch

_REFUSED = (ServiceError, InvalidInput, OSError, ValueError, pa.ArrowException)
"""Errors that prevent the registration of a file; statistics in the metastore are stored all the same."""


def sketched_columns(
    opened: LakeTable, request: Statement, options: Options, locked: Collection[str]
) -> tuple[str, ...]:
    """The requested columns that get a sketch. A sample has none."""
    if not _are_wanted(opened, options) or request.noscan:
        return ()
    left_out = {*unwanted_columns(opened, options), *locked, *request.without}
    asked = opened.sketched if request.columns is None else request.columns
    wanted = (name for name in opened.sketched if name in asked and name not in left_out)
    return tuple(name for name in wanted if options.sketches_of(name).distinct)


def _are_wanted(opened: LakeTable, options: Options) -> bool:
    """Whether the table's own metadata get any sketches."""
    return opened.outlet is not None and not options.sampled and options.puffin_columns != PUFFIN_NONE


def unwanted_columns(opened: LakeTable, options: Options) -> set[str]:
    """The columns whose sketches the options exclude."""
    if options.puffin_columns == PUFFIN_ALL:
        return set()
    if options.puffin_columns == PUFFIN_TEXT:
        return {name for name, column in opened.sketched.items() if not column.is_text}
    return opened.sketched.keys() - set(options.puffin_columns.split(","))


Register = Callable[[Mapping[str, ThetaSketch], Collection[str]], PuffinFile]
"""Registers sketches by column, and removes earlier ones of some columns. Raises the errors of _REFUSED."""


def register_sketches(
    register: Register, opened: LakeTable, sketches: Mapping[str, ThetaSketch], options: Options
) -> tuple[PuffinFile | None, str | None]:
    """Register sketches: the file, None if none is wanted, and why it could not be registered, or None."""
    if not _are_wanted(opened, options) or not (sketches or options.distinct):
        return None, None
    try:
        return register(sketches, unwanted_columns(opened, options)), None
    except _REFUSED as error:
        return None, str(error) or type(error).__name__
