"""One object for parameters that equal the last ones: thousands of partitions of one call mostly have the same."""

from hmstats.model.catalog.objects import Parameters


class Alike:
    """Remembers the last parameters. Not thread-safe."""

    def __init__(self) -> None:
        self._last: Parameters = {}

    def __call__(self, parameters: Parameters) -> Parameters:
        """The last parameters if these equal them, else these."""
        if parameters != self._last:
            self._last = parameters
        return self._last
