"""Hypothesis strategies for Hive types, as text."""

from hypothesis import strategies as st

PLAIN = st.sampled_from(
    [
        "boolean",
        "tinyint",
        "smallint",
        "int",
        "bigint",
        "float",
        "double",
        "string",
        "binary",
        "date",
        "timestamp",
        "timestamp with local time zone",
        "void",
    ]
) | st.integers(1, 38).flatmap(lambda digits: st.integers(0, digits).map(lambda scale: f"decimal({digits},{scale})"))
_KEYS = PLAIN.filter(lambda text: text != "void")
FIELD_NAMES = st.sampled_from(["a", "b_1", "Größe"]) | st.text(min_size=1, max_size=4).map(
    lambda text: text if text.replace("_", "x").isalnum() else f"`{text.replace('`', '``')}`"
)


def _nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    fields = st.lists(st.tuples(FIELD_NAMES, inner).map(":".join), max_size=3)
    return st.one_of(
        inner.map(lambda each: f"array<{each}>"),
        st.tuples(_KEYS, inner).map(lambda both: f"map<{both[0]},{both[1]}>"),
        fields.map(lambda each: f"struct<{','.join(each)}>"),
        st.lists(inner, min_size=1, max_size=3).map(lambda each: f"uniontype<{','.join(each)}>"),
    )


HIVE_TYPES = st.recursive(PLAIN, _nested, max_leaves=6)
