"""Results at Python's prompt and in notebooks."""

from hmstats.outlets.people.view import MOST_ROWS, View


def test_columns_are_aligned_and_notes_follow() -> None:
    view = View("t: 3 rows", ("Column", "Type"), [("a", "bigint"), ("longer", "int")], ["left out: x"])
    assert view.text() == "t: 3 rows\nColumn  Type\na       bigint\nlonger  int\nleft out: x"
    assert repr(view.html()).count("<tr>") == 3


def test_without_rows_there_is_no_table() -> None:
    view = View("t: no counts known", ("Column", "Type"))
    assert view.text() == "t: no counts known"
    assert "<table>" not in view.html()


def test_what_is_too_much_is_counted() -> None:
    view = View("t", ("Column",), [(str(number),) for number in range(MOST_ROWS + 5)])
    assert view.text().splitlines()[-2:] == [str(MOST_ROWS - 1), "... and 5 more"]
    assert "... and 5 more" in view.html()


def test_html_is_escaped() -> None:
    view = View("<t>", ("<c>",), [("<script>",)], ["a & b"])
    assert view.html() == (
        "<div><b>&lt;t&gt;</b><table><thead><tr><th>&lt;c&gt;</th></tr></thead><tbody><tr><td>&lt;script&gt;</td></tr>"
        "</tbody></table><div>a &amp; b</div></div>"
    )
