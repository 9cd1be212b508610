"""Tables as those left them who wrote their statistics last: whoever locks one at the same version need not read it."""

import threading
from collections import OrderedDict
from dataclasses import replace

from hmstats.model.catalog import Parameters, TableName
from hmstats.store.targets import Target

_MOST_KEPT = 500


class LeftTargets:
    """Targets by name, the newest of them. One object serves all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left: OrderedDict[TableName, Target] = OrderedDict()

    def of(self, name: TableName) -> Target | None:
        """The table as it was left; whether it still is so, its id and version say."""
        return self._left.get(name)

    def keep(self, name: TableName, target: Target, put: Parameters) -> None:
        """Keep a table as a unit that is committed now has left it: one version on, with these parameters put."""
        left = replace(target, version=target.version + 1, parameters={**target.parameters, **put})
        with self._lock:
            self._left[name] = left
            self._left.move_to_end(name)
            if len(self._left) > _MOST_KEPT:
                self._left.popitem(last=False)
