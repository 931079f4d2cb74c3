"""Plain English and one vocabulary: no page, help text, error, docstring or public name holds a word of the tables below."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
IDIOMS: tuple[tuple[str, str, str], ...] = (
    (r"\btold\b", "software reports or shows", "reported, shown, given, set; for “told apart”: distinguished"),
    (r"\btells? of\b", "software reports or shows", "reports, lists, describes"),
    (r"\bmend(?:s|ed|ing|able)?\b", "the term is fix", "fix, repair"),
    (r"\banew\b", "archaic", "again"),
    (r"\b(?:whoever|whomever|whosoever|of whom)\b", "hides the actor", "the person who, anyone who, everyone who"),
    (r"\b(?:lest|naught|aught|fain|whence|whither)\b", "archaic", "a plain clause"),
    (r"\b(?:there|here)(?:of|in|to|upon|by)\b", "archaic", "name the thing"),
    (r"\bheed(?:s|ed|ing)?\b", "archaic", "follow, respect, use"),
    (r"\bwherever it be\b", "archaic", "anywhere"),
    (r"\bnone of (?:ours|theirs)\b", "needs another sentence to be understood", "say whose it is not"),
    (r"[,;] else\b", "a trailing “else” hides the condition", "otherwise, or a full clause"),
    (
        r"\bas there\b(?! (?:is|are|was|were|has|have|had|may|can|will|would)\b)",
        "needs another place",
        "name the place",
    ),
    (r"\bthe same again\b", "needs another sentence to be understood", "name the thing"),
    (r"\bof before\b", "needs another sentence to be understood", "older, or name the version"),
    (r"\bstands? in\b(?! for\b)", "text and files do not stand", "is in, is recorded in"),
    (
        r"\bstands? (?:there|already|beside|below|apart)\b",
        "text and files do not stand",
        "is there, exists, is next to",
    ),
    (r"\bwhat stands\b", "text and files do not stand", "what exists, what is stored"),
    (r"\bgold words?\b", "not the term", "gold label, adjudicated label"),
    (r"\b(?:people|person|detector|annotator|someone)['’]s words?\b", "a judgment is not a word", "judgment, label"),
    (r"\b(?:says?|said|saying|gives?|gave) (?:their|her|his) word\b", "a judgment is not a word", "judges"),
    (r"\bword by word\b", "a judgment is not a word", "judgment by judgment; for text: exactly"),
    (r"\bat hand\b", "idiom", "available"),
    (r"\bgoes on (?:where|when|after|under)\b", "idiom", "continues, resumes"),
    (r"\btak(?:e|es|en|ing) up (?:again|one)\b", "idiom", "resume"),
    (r"\bmay (?:do )?everything\b", "a right needs an object", "may use every page and command"),
    (r"\bmade-up (?:person|people|annotators?)\b", "not the term", "simulated annotator"),
    (r"\bput right\b", "idiom", "corrected"),
    (r"\b(?:is|are|was|were) held against\b", "idiom", "compared with"),
    (r"\bfor want of\b", "idiom", "because there is no"),
    (r"\bknown of\b", "idiom", "known about"),
    (r"\bout of thin air\b", "idiom", "say what happens"),
    (r"\bby oneself\b|\bas oneself\b", "hides the actor", "name the person"),
)
"""Regular expression (a space is any white space, case is ignored), why it is banned, and what to write instead."""
_COMPILED = [(re.compile(pattern.replace(" ", r"\s+"), re.IGNORECASE), why, use) for pattern, why, use in IDIOMS]
_FENCED = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,}).*?^(?P=indent)(?P=fence) *$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"(?<!`)(`+)(?!`)[^`](?:(?!\n\n).)*?(?<!`)\1(?!`)", re.DOTALL)
_FOREIGN = {".venv", ".git", "node_modules", "build", "dist", "workspace"}
_GUIDELINES = "annotation/guidelines/"
"""The text that judgments were made under: its hash is its version, so that no test asks for an edit of it."""
PAGES = [
    name
    for name in sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.md"))
    if not _FOREIGN & set(name.split("/")) and not name.startswith(_GUIDELINES)
]


PACKAGES = ("annotation", "app", "berdseye", "data", "detectors", "evaluation", "retrieval")
PROMPTS = {
    "annotation/label_studio/form.py",
    "data/language_models/prompts.py",
    "data/language_models/choosing.py",
    "detectors/disputes.py",
    "detectors/prompts.py",
    "detectors/sides.py",
    "evaluation/answer_measures/dispute_awareness.py",
    "evaluation/answer_measures/ratings.py",
    "evaluation/answering/downstream.py",
    "evaluation/answering/styles.py",
    "retrieval/expansion/language_model.py",
}
"""Modules with texts that language models or Label Studio read: stored results name them by their hash, so that they stay."""
SOURCES = [
    path.relative_to(ROOT).as_posix()
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
    if not path.relative_to(ROOT).as_posix().startswith("annotation/migrations/versions")
    and not (package == "berdseye" and path.parent != ROOT / "berdseye")
]
OLD_NAMES = re.compile(
    r"(?:^|_)(?:told|tell|mend|mended|mending|anew|heard|touched|stands|surroundings|beside|gold_words?|people_say"
    r"|whom|whose|word_fields|made_up)(?:_|$)",
    re.IGNORECASE,
)
"""Words that are in no public name; docs/glossary.md has the terms."""


def texts_of(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The sentences of a Python file, with their lines: docstrings, and string constants of more than two words."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count(" ") > 1:
            yield node.lineno, node.value


def public_names_of(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The names that other modules use: public functions, classes, methods and fields, and parameters of these."""

    def named(body: list[ast.stmt]) -> Iterator[tuple[int, str]]:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith(
                "_"
            ):
                yield node.lineno, node.name
                if isinstance(node, ast.ClassDef):
                    yield from named(node.body)
                else:
                    parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                    yield from ((node.lineno, parameter.arg) for parameter in parameters)
            elif isinstance(node, ast.AnnAssign | ast.Assign):
                targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
                yield from (
                    (node.lineno, t.id) for t in targets if isinstance(t, ast.Name) and not t.id.startswith("_")
                )

    yield from named(tree.body)


def banned(text: str) -> list[str]:
    """Each banned idiom in a text, with its line, why it is banned and what to write instead."""
    found = [
        (
            match.start(),
            f"line {text[: match.start()].count(chr(10)) + 1}: “{' '.join(match[0].split())}” ({why}). Write: {use}.",
        )
        for pattern, why, use in _COMPILED
        for match in pattern.finditer(text)
    ]
    return [message for _, message in sorted(found)]


def prose(markdown: str) -> str:
    """Markdown without fenced and inline code; the lines keep their numbers."""

    def blank(match: re.Match[str]) -> str:
        return "`" + "\n" * match[0].count("\n") + "`"

    return _INLINE.sub(blank, _FENCED.sub(blank, markdown))


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_in_plain_english(name: str) -> None:
    found = banned(prose((ROOT / name).read_text(encoding="utf-8")))
    assert found == [], f"{name} (CONTRIBUTING.md, “How we write English”):\n" + "\n".join(found)


@pytest.mark.parametrize("name", SOURCES)
def test_a_module_is_in_plain_english(name: str) -> None:
    tree = ast.parse((ROOT / name).read_text(encoding="utf-8"))
    texts = [] if name in PROMPTS else list(texts_of(tree))
    found = [f"line {line}: {message}" for line, text in texts for message in banned(_INLINE.sub("`", text))]
    found += [
        f"line {line}: the name {name!r} holds a word that is no term"
        for line, name in public_names_of(tree)
        if OLD_NAMES.search(name)
    ]
    assert found == [], f"{name} (CONTRIBUTING.md, “How we write English”):\n" + "\n".join(found)


@pytest.mark.parametrize(
    "sentence",
    [
        "Bad rows are told with their lines.",
        "Nothing is added until they are mended.",
        "The index is built anew.",
        "It takes the detector, else chance.",
        "The decision becomes the gold word of the pair.",
        "What was found stands in\nthe manifest.",
        "The queue serves whoever asks.",
    ],
)
def test_the_table_finds_an_idiom(sentence: str) -> None:
    assert len(banned(sentence)) == 1


@pytest.mark.parametrize(
    "sentence",
    [
        "Invalid rows are reported by line number; nothing is imported until you fix them.",
        "A recommendation amends the draft.",
        "Nothing else is needed, and no one else can read it.",
        "The simulated annotator stands in for a person.",
        "A question counts, as there is a label for one of its pairs.",
        "Every word of the passage is kept.",
        "Therefore the interval is wider here by a third.",
    ],
)
def test_the_table_leaves_good_english_alone(sentence: str) -> None:
    assert banned(sentence) == []


def test_the_idioms_that_the_guide_names_are_banned() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("| do not write |")[2]
    cells = [row.split("|")[1] for row in guide.splitlines()[2:] if row.startswith("| `")]
    named = [idiom for cell in cells for idiom in re.findall(r"`([^`]+)`", cell)]
    assert len(named) > 10
    assert [idiom for idiom in named if not banned(idiom)] == []


def test_code_is_no_prose() -> None:
    text = "One `told` line\n\n```sh\ntold anew\n```\n\n  ~~~\n  told\n  ~~~\n\nand `it is\ntold` here, told.\n"
    [found] = banned(prose(text))
    assert found.startswith("line 12: “told”")


def test_the_glossary_fits_on_one_screen() -> None:
    lines = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 40
    assert "| term | meaning | where you meet it |" in lines
