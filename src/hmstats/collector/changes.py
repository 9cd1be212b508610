"""Leaves out what was analysed before in the same way and has the same files still."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hmstats.collector.files import DataFile
from hmstats.collector.fingerprint import PARAMETER, fingerprint
from hmstats.collector.options import Options
from hmstats.collector.plan import Plan


def only_changed(plan: Plan, files: Mapping[str, Sequence[DataFile]], options: Options) -> Plan:
    """The plan with the pieces whose files are not those of their fingerprint; the others are its `unchanged`.

    A piece without a location, as a view is, has changed always.
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
