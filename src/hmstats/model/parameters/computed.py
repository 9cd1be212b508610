"""Parameters of a table that were computed for an answer, and are not the table's own.

A client may write back a table as it read it, or make another one of it. So an answer says what was computed in a
parameter of its storage descriptor, `hmstats.computed` = `numFiles=3,numRows=70`. Nobody takes that one for the table's
own: no engine shows it, nor writes it into DDL. What it names with the same value is not stored; a value that the
client changed is the client's. A client that drops it, as Spark and Trino do, is recognised by the values alone:
those that the stored table lacks, and that an answer had (service/statistics/reading/sizes.py).
"""

from collections.abc import Collection, Iterable, Mapping

from hmstats.model.catalog.objects import Parameters

MARKER = "hmstats.computed"
"""A parameter of the storage descriptor; earlier releases had it among the table's own."""
OWN = "hmstats.own"
"""The property of an environment context in which a client names, with commas, the parameters that it sets itself."""


def marker(computed: Mapping[str, str]) -> dict[str, str]:
    """The parameter that says what was computed."""
    return {MARKER: ",".join(f"{key}={value}" for key, value in sorted(computed.items()))} if computed else {}


def without_marker(parameters: Parameters) -> dict[str, str]:
    """A storage descriptor's parameters without the marker."""
    return {key: value for key, value in parameters.items() if key != MARKER}


def without_marked(parameters: Parameters, of_storage: Parameters) -> Parameters:
    """A table's parameters without what a marker names, and without the marker of an earlier release.

    `of_storage` are the parameters of its storage descriptor.
    """
    said = of_storage.get(MARKER, parameters.get(MARKER))
    if said is None:
        return parameters
    computed = dict(pair.partition("=")[::2] for pair in said.split(","))
    return {key: value for key, value in parameters.items() if key != MARKER and computed.get(key) != value}


def without_answered(
    given: Parameters, stored: Parameters, answers: Iterable[Mapping[str, str]], own: Collection[str] = ()
) -> Parameters:
    """The given parameters without those that were copied from an answer: not stored, and with the value of an answer.

    Parameters that the client declares as its `own` stay, whatever their values are.
    """
    told = {(key, value) for answer in answers for key, value in answer.items()}
    return {key: value for key, value in given.items() if key in stored or key in own or (key, value) not in told}
