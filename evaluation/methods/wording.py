"""Sections of a methods report: sentences and facts, as Markdown and as LaTeX, with every text of the workspace escaped."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from berdseye.evaluation.latex import latex_text

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~])")


class Fact(NamedTuple):
    """A row of the table: the section, what is stated, and its value as text."""

    section: str
    what: str
    value: str


@dataclass
class Section:
    """A part of the report: sentences of its paragraph, and rows of the table."""

    name: str
    sentences: list[str] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)

    def say(self, sentence: str) -> None:
        """Add a sentence to the paragraph."""
        self.sentences.append(sentence[0].upper() + sentence[1:])

    def fact(self, what: str, value: str) -> None:
        """Add a row to the table."""
        self.facts.append(Fact(self.name, what, value))


@dataclass(frozen=True)
class MethodsReport:
    """The paragraph and the table of each section."""

    sections: tuple[Section, ...]

    @property
    def facts(self) -> list[Fact]:
        """The rows of the table."""
        return [fact for section in self.sections for fact in section.facts]

    def markdown(self) -> str:
        """Return the paragraphs and the table in Markdown."""
        parts = [f"## {section.name}\n\n{_markdown(' '.join(section.sentences))}\n" for section in self.sections]
        rows = "".join(f"| {s} | {_markdown(what)} | {_markdown(value)} |\n" for s, what, value in self.facts)
        return "\n".join([*parts, f"| part | what | value |\n|---|---|---|\n{rows}"])

    def latex(self) -> str:
        """Return the paragraphs and the table in LaTeX; the table needs the package booktabs."""
        parts = [f"\\paragraph{{{s.name}}} {latex_text(' '.join(s.sentences))}\n" for s in self.sections]
        rows = "".join(f"{s} & {latex_text(what)} & {latex_text(value)} \\\\\n" for s, what, value in self.facts)
        table = (
            "\\begin{table}\n\\caption{Annotation and evaluation.}\n\\label{tab:methods}\n"
            "\\begin{tabular}{llp{0.55\\linewidth}}\n\\toprule\nPart & What & Value \\\\\n\\midrule\n"
            f"{rows}\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
        )
        return "\n".join([*parts, table])


def listed(names: Iterable[object]) -> str:
    """Return names as an enumeration: 'a', 'a and b', or 'a, b and c'."""
    *first, last = map(str, names)
    return f"{', '.join(first)} and {last}" if first else last


def figure(value: float, low: float, high: float, digits: int) -> str:
    """Return a value with its 95% interval in brackets, if it has one."""
    shown = f"{value:.{digits}f}"
    return shown if np.isnan(low) else f"{shown} [{low:.{digits}f}, {high:.{digits}f}]"


def _markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", text.replace("\n", " "))
