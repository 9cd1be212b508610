"""Parameters of a table that were computed for an answer, and are not the table's own.

A client may write back a table as it read it. So an answer says in one more parameter what was computed:
`hmstats.computed` = `numFiles=3,numRows=70`. Whoever writes the table back says it again, and what it names with the
same value is not stored. A value that the client changed is the client's.
"""

from collections.abc import Mapping

from hmstats.model.catalog import Parameters

MARKER = "hmstats.computed"


def with_computed(parameters: Parameters, computed: Mapping[str, str]) -> Parameters:
    """The parameters with these beside them, and with the marker that names them."""
    if not computed:
        return parameters
    marker = ",".join(f"{key}={value}" for key, value in sorted(computed.items()))
    return {**parameters, **computed, MARKER: marker}


def without_computed(parameters: Parameters) -> Parameters:
    """The parameters without what their marker names, and without the marker."""
    marker = parameters.get(MARKER)
    if marker is None:
        return parameters
    computed = {MARKER: marker} | dict(pair.partition("=")[::2] for pair in marker.split(","))
    return {key: value for key, value in parameters.items() if computed.get(key) != value}
