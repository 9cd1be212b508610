"""Pictures: what they draw, what they say, and that no name breaks out of them."""

from xml.etree.ElementTree import fromstring

from hmstats.web.answers.columns import ColumnFacts, Frequent, FrequentValues, Histogram
from hmstats.web.answers.numbers import Number
from hmstats.web.pictures.column import column_picture, nulls_part
from hmstats.web.pictures.histogram import histogram_picture, ticks
from hmstats.web.pictures.words import part_text, value_text

SKEWED = Histogram(edges=(0.0, 10.0, 20.0), counts=(750.0, 250.0), values=1_000, bin_error=0.02)


def paths(picture: str) -> dict[str, str]:
    """Class to path of a picture."""
    return {each.attrib["class"]: each.attrib["d"] for each in fromstring(picture) if "d" in each.attrib}


def test_a_bar_is_solid_up_to_the_least_and_pale_up_to_the_most() -> None:
    found = paths(histogram_picture("c", SKEWED, None))
    tops = {kind: float(path.split("h")[0].split()[1]) for kind, path in found.items()}
    assert tops["band"] == 0
    assert tops["band"] < tops["unsure"] < tops["bar"] < 100
    assert "null" not in found


def test_nulls_stand_beside_in_a_scale_of_their_own() -> None:
    found = paths(histogram_picture("c", SKEWED, 0.25))
    assert found["null"].startswith("M292 75")
    assert found["all"].startswith("M292 0")


def test_an_exact_histogram_has_no_band() -> None:
    exact = Histogram(edges=(1, 2), counts=(5.0,), values=5, bin_error=0, single=True)
    assert set(paths(histogram_picture("c", exact, None))) == {"bar"}
    assert ticks(exact) == ["1"]


def test_a_picture_says_what_it_shows_and_no_name_breaks_out() -> None:
    name = '"><script>alert(1)</script>'
    picture = histogram_picture(name, SKEWED, 0.25)
    assert "<script" not in picture
    root = fromstring(picture)
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"] == root[0].text
    assert root.attrib["aria-label"] == (
        f"{name}: 1,000 values from 0 to 20; the fullest of 2 bins is 0 to 10 with 75 %, "
        "give or take 2 % of the values; 25 % of the rows are null"
    )


def column(**more: object) -> ColumnFacts:
    return ColumnFacts(name="c", type="string", **more)  # type: ignore[arg-type]


def test_only_values_that_are_sure_to_be_frequent_are_drawn() -> None:
    values = (Frequent(value="a", low=500, high=510), Frequent(value="b", low=1, high=20))
    some = FrequentValues(values=values, count=1_000, unlisted=20, exact=False)
    assert [each.value for each in some.sure] == ["a"]
    picture = column_picture(column(frequent=some), None)
    assert picture is not None
    assert fromstring(picture).attrib["aria-label"] == "c: a 51 %"
    none = FrequentValues(values=values[1:], count=1_000, unlisted=20, exact=False)
    assert column_picture(column(frequent=none), None) is None


def test_the_part_of_nulls_is_of_the_rows_that_were_looked_at() -> None:
    found = column(nulls=Number(value=1_000), histogram=SKEWED)
    assert nulls_part(found, Number(value=5)) == 0.5
    assert nulls_part(column(nulls=Number(value=1)), None) is None
    assert nulls_part(column(), Number(value=5)) is None


def test_values_and_parts_as_words() -> None:
    assert [value_text(each) for each in (1992, 0.1 + 0.2, True, "a\nb", "", "x" * 99)] == [
        "1992",
        "0.3",
        "true",
        "a b",
        "''",
        f"{'x' * 39}…",
    ]
    assert [part_text(each) for each in (0, 1, 0.5, 0.016, 0.00001, 0.9999)] == [
        "0 %",
        "100 %",
        "50 %",
        "1.6 %",
        "< 0.01 %",
        "> 99.9 %",
    ]
