"""Reads which metastores behind a gateway answer, as its workers say in the gauge hmstats_upstream_up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hmstats.server.monitoring.metrics import read_smallest

_GAUGE = "hmstats_upstream_up"


@dataclass(frozen=True, slots=True)
class UpstreamStates:
    """The states of upstreams, whose addresses are given by their names in sentences.

    `are_needed`: the server is ready only if all answer. A server that is no gateway has no upstreams.
    """

    addresses: Mapping[str, Sequence[str]] = field(default_factory=dict)
    are_needed: bool = False

    def read(self, metrics_folder: str) -> tuple[bool, list[str]]:
        """Whether the server may be ready, and a sentence for each upstream."""
        if not self.addresses:
            return True, []
        up = read_smallest(metrics_folder, _GAUGE)
        sentences = [_sentence(name, found, up) for name, found in self.addresses.items()]
        all_answer = all(any(up.get(each) for each in found) for found in self.addresses.values())
        return all_answer or not self.are_needed, sentences


def _sentence(name: str, addresses: Sequence[str], up: Mapping[str, float]) -> str:
    if not any(each in up for each in addresses):
        return f"{name} was not asked yet"
    silent = ", ".join(each for each in addresses if not up.get(each))
    if not silent:
        return f"{name} answers"
    if any(up.get(each) for each in addresses):
        return f"{name} answers, but not at {silent}"
    return f"{name} does not answer at {silent}"
