"""The HTML of results in notebooks: accessible tables, with all text escaped."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
import unruffled

NASTY = "<script>alert('x & \"y\"')</script>"


class Page(HTMLParser):
    """Parses a page into the cells of its tables, its text, and its tags."""

    VOID = ("br",)

    def __init__(self, html: str):
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.tables: list[list[list[str]]] = []
        self.captions: list[str] = []
        self.words = ""
        self.feed(html)
        self.close()
        assert self.open == [], "every tag is closed"

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")
        if tag == "caption":
            self.captions.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += data
        if self.open and self.open[-1] in ("td", "th"):
            self.tables[-1][-1][-1] += data
        if self.open and self.open[-1] == "caption":
            self.captions[-1] += data


SEVERAL = {
    "name": NASTY,
    "title": NASTY,
    "source": NASTY,
    "duration": "1 s",
    "seeds": 1,
    "variants": ["sack", "rack"],
    "path": {"hops": ["l"]},
    "link": {"l": {"rate": "5 Mbit/s", "delay": "10 ms", "queue": 30}},
    "traffic": [{"name": "ours", "count": 2}, {"name": "beside", "sender": "reno"}],
}


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    capture = tmp_path_factory.mktemp("capture") / "a<b>&'c'.pcapng"
    unruffled.record(capture, "few-late", "rack+cubic", duration="5 s")
    call = dict(variants=["sack", "rack"], seeds=1, duration="1 s", store=False, quiet=True)
    return {
        "comparison": unruffled.compare("rr-3", ["sack", "rr-ta"], 2, "5 s"),
        "flows": unruffled.compare(SEVERAL),
        "sweep": unruffled.sweep(SEVERAL, {"l.queue": [10, 20]}, **call),
        "analysis": unruffled.analyze(capture),
        "senders": unruffled.variants(),
        "scenario": unruffled.scenario(SEVERAL),
        "table": unruffled.sweep(SEVERAL, {"l.queue": [10, 20]}, **call).rows,
        "long": unruffled.compare("rr-3", ["sack"], 1, "5 s").traces,
        "no rows": unruffled.compare("rr-3", ["sack"], 1, "5 s").flows,
    }


NAMES = [
    "comparison",
    "flows",
    "sweep",
    "analysis",
    "senders",
    "scenario",
    "table",
    "long",
    "no rows",
]


@pytest.mark.parametrize("name", NAMES)
def test_tables_are_accessible(shown, name):
    page = Page(shown[name]._repr_html_())
    assert page.tables
    assert all(caption.strip() for caption in page.captions[:1])
    for table in page.tables:
        assert len({len(line) for line in table}) == 1, "every row has as many cells"
        assert all(head.strip() for head in table[0]), "every column has a header"
        assert all(line[0].strip() for line in table), "every row has a header"
    scopes = [attributes.get("scope") for tag, attributes in page.tags if tag == "th"]
    assert set(scopes) <= {"col", "row"}
    assert scopes.count("col") == sum(len(table[0]) for table in page.tables)
    assert scopes.count("row") == sum(len(table) - 1 for table in page.tables)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_fetched_or_run_and_all_text_is_escaped(shown, name):
    html = shown[name]._repr_html_()
    page = Page(html)
    assert {tag for tag, _ in page.tags} <= {
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "p",
        "br",
        "details",
        "summary",
        "pre",
    }
    names = {attribute for _, attributes in page.tags for attribute in attributes}
    assert names <= {"scope", "style"}
    assert not re.search(r"https?://|url\(|@import", re.sub(r">[^<]*<", "><", html))
    if name in ("flows", "sweep", "scenario", "table"):
        assert NASTY in page.words
    if name == "analysis":
        assert "a<b>&'c'.pcapng" in page.words


@pytest.mark.parametrize("name", ["comparison", "flows", "sweep", "analysis"])
def test_a_notebook_shows_the_numbers_of_the_text(shown, name):
    found = shown[name]
    page, text = Page(found._repr_html_()), repr(found)
    words = set(re.split(r"\s+", text))
    for table in page.tables:
        for line in table[1:]:
            for cell in line:
                assert set(cell.split()) <= words, cell
    head = text.splitlines()[0]
    assert page.captions[0].split()[0] in head


def test_groups_and_links_have_tables(shown):
    page = Page(shown["flows"]._repr_html_())
    assert [table[1][0] for table in page.tables[:2]] == ["sack", "sack"]
    assert len(page.tables) >= 2
    assert {"ours", "beside"} <= {line[1] for line in page.tables[1]}


def test_a_long_table_is_cut_in_the_middle(shown):
    (table,) = Page(shown["long"]._repr_html_()).tables
    assert len(table) == 1 + 5 + 1 + 5
    assert table[6] == ["…"] * 4
    assert Page(shown["long"]._repr_html_()).captions == [f"{len(shown['long'])} rows"]
