"""Shares one object among equal parameters: thousands of partitions of one call mostly have the same."""

from hmstats.model.catalog.objects import Parameters


class SharedParameters:
    """Replaces parameters that equal the previous ones by the same object. Not thread-safe."""

    def __init__(self) -> None:
        self._last: Parameters = {}

    def __call__(self, parameters: Parameters) -> Parameters:
        """The previous parameters if these equal them, else these."""
        if parameters != self._last:
            self._last = parameters
        return self._last
