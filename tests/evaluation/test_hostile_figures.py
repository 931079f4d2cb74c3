"""Hostile names in tables and charts: LaTeX commands, markup, addresses and control characters are text."""

import re

import pandas as pd
import pytest
from lxml import etree

from berdseye.evaluation.agreement.charts import matrix_chart, pairs_chart
from berdseye.evaluation.agreement.exports import to_latex
from berdseye.evaluation.charts import html, svg
from berdseye.evaluation.studies.result import Table

NAMES = (
    r"\input{/etc/passwd}",
    r"\write18{id} \immediate \csname x\endcsname",
    "} \\end{tabular} {",
    "50% & more \\\\ $x$ #1 _a_ ^b ~c",
    "<script>alert(1)</script><image href='http://evil.example/x'/>",
    "javascript:alert(1)",
    "datum['x']; ${window}",
    "a\n\nb",
    "\x1b[31mred",
    "\u202egnp",
    "\x00\x07 control",
    "\ufffe\uffff",
    "x" * 3000,
)
ALLOWED = {"begin", "end", "toprule", "midrule", "bottomrule", "caption", "label", "multicolumn", "multirow", "cline"}
ALLOWED |= {"textbackslash", "textasciitilde", "textasciicircum", "textless", "textgreater", "space"}


def commands(latex: str) -> set[str]:
    return set(re.findall(r"\\([A-Za-z]+)", latex))


def balanced(latex: str) -> bool:
    bare = re.sub(r"\\[{}]", "", latex)
    return bare.count("{") == bare.count("}") and latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 1


@pytest.mark.parametrize("name", NAMES)
def test_latex_holds_no_command_of_a_name(name: str) -> None:
    cells = pd.DataFrame({"system": [name, "plain"], "measure": [name, "other"], "value": [1.0, 2.0]})
    table = Table("t", f"Caption {name}", cells, ("system",), ("measure",)).latex()
    plain = to_latex(pd.DataFrame({"rater": [name], name: [1.0]}), "Caption")
    for latex in (table, plain):
        assert commands(latex) <= ALLOWED
        assert balanced(latex)


def test_signs_that_xml_does_not_allow_do_not_end_the_process() -> None:
    """In a process that draws for a whole team; a specification may come from a file, with half a character in it."""
    texts = ["\x1b[31m", "\x00", "\ufffe", "\ud800", "fine"]
    data = {"values": [{"name": text, "n": 1} for text in texts]}
    drawn = svg({"mark": "bar", "data": data, "encoding": {"y": {"field": "name", "type": "nominal"}}})
    assert "fine" in drawn.decode()
    assert etree.fromstring(drawn) is not None


def ratings() -> pd.DataFrame:
    rows = [(a, b) for n, a in enumerate(NAMES) for b in NAMES[n + 1 :]]
    frame = pd.DataFrame(rows, columns=["a", "b"])
    return frame.assign(cohen_kappa=0.5, low=0.1, high=0.9, n=7, agreement=0.8)


def test_charts_hold_names_as_text() -> None:
    for chart in (pairs_chart(ratings().head(20)), matrix_chart(ratings(), list(NAMES))):
        drawn = etree.fromstring(svg(chart))
        tags = {etree.QName(element).localname for element in drawn.iter() if isinstance(element.tag, str)}
        assert not tags & {"script", "image", "foreignObject", "a", "use", "iframe"}
        attributes = {etree.QName(name).localname for element in drawn.iter() for name in element.attrib}
        assert not {name for name in attributes if name == "href" or name.startswith("on")}
        page = html(chart).decode()
        assert "<script>alert(1)</script>" not in page
        assert "Content-Security-Policy" in page
