"""Skips pieces that were analysed with the same options and still have the same files."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hmstats.collector.options import Options
from hmstats.collector.planning.data_files import DataFile
from hmstats.collector.planning.fingerprint import PARAMETER, fingerprint
from hmstats.collector.planning.plan import Plan


def only_changed(plan: Plan, files: Mapping[str, Sequence[DataFile]], options: Options) -> Plan:
    """The plan with the pieces whose files do not match their fingerprint; the others are its `unchanged`.

    A piece without a location, such as a view, always counts as changed.
    """
    same = {
        piece.name
        for piece in plan.pieces
        if piece.location and piece.parameters.get(PARAMETER) == fingerprint(files[piece.name], plan.types, options)
    }
    return replace(
        plan,
        pieces=tuple(piece for piece in plan.pieces if piece.name not in same),
        unchanged=tuple(piece for piece in plan.pieces if piece.name in same),
    )
