"""Reading questions and perspectives from the layouts they are published in.

- **JSONL**, ours: `{"id", "question", "perspectives": ["text" or {"text", "stance", "explanation"}]}`, only the texts needed;
- **BERDS** release: JSONL with `org_id`, `org_q` and `perspectives`, several lines a question;
- **PIR** task: JSON with `corpus`, `source_queries`, `perspectives`, `key_ref` (gold passages);
- **Perspectrum**: JSON claims with clusters of perspective ids, `perspective_pool*.json` beside it;
- **debates**: JSON claims with arguments for and against (gold: an argument supports its own perspective).
"""

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from data.errors import BadInputError
from data.passages import clean, cut
from data.pir_tasks import pir_task
from data.records import Pair, Perspective, Question, Stance

_STANCES: dict[str, Stance] = {
    "supporting": "supporting",
    "support": "supporting",
    "for": "supporting",
    "opposing": "opposing",
    "undermine": "opposing",
    "oppose": "opposing",
    "against": "opposing",
}


@dataclass(frozen=True)
class Imported:
    """What a file held: its questions, and gold labels of pairs where it gives any."""

    layout: str
    questions: list[Question]
    gold: dict[Pair, bool] = field(default_factory=dict)


def read_dataset(source: Path) -> Imported:
    """Recognise the layout of a file by what it holds, and read it; raises `BadInputError` with file and line."""
    if not source.is_file():
        raise BadInputError("There is no such file.", where=source, hint="Check the path.")
    if source.suffix.lower() in (".jsonl", ".ndjson"):
        return _read_jsonl(source)
    if source.suffix.lower() != ".json":
        raise BadInputError(
            "A data set is a .jsonl or .json file.", where=source, hint="See `berdseye dataset add --help`."
        )
    try:
        value = json.loads(source.read_bytes().decode("utf-8-sig"))
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInputError(
            f"Not a readable JSON file: {error}.", where=source, hint="Save it as UTF-8 JSON."
        ) from error
    if isinstance(value, dict) and "source_queries" in value:
        return _read_pir(value, source)
    if isinstance(value, list) and value and isinstance(value[0], dict):
        try:
            if "claim_title" in value[0]:
                return _read_debates(value)
            if "cId" in value[0]:
                return _read_perspectrum(value, source)
        except (LookupError, TypeError, AttributeError, ValueError, OSError) as error:
            raise BadInputError(f"Not whole: {error!r}.", where=source, hint="Take the file as released.") from error
    raise BadInputError("The layout is not known.", where=source, hint="See `berdseye dataset add --help`.")


def read_perspectives(value: Any) -> tuple[Perspective, ...]:
    """Perspectives from a list of texts or of objects with `text`, `stance` and `explanation`; raises `ValueError` otherwise."""
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
            raise ValueError("`perspectives` is no list") from error
    if not isinstance(value, list):
        raise ValueError("`perspectives` is no list")
    found: dict[str, Perspective] = {}
    for item in value:
        text, stance = (item, None) if isinstance(item, str) else (_text_of(item), item.get("stance"))
        explanation = "" if isinstance(item, str) else item.get("explanation") or ""
        if not isinstance(explanation, str):
            raise ValueError("an explanation is no text")
        if not isinstance(text, str) or not text.strip():
            raise ValueError("a perspective is empty")
        if stance is not None and (not isinstance(stance, str) or stance not in _STANCES):
            raise ValueError(f"stance '{stance}' is neither supporting nor opposing")
        side = None if stance is None else _STANCES[stance]
        found.setdefault(clean(text), Perspective(clean(text), side, clean(explanation)))
    return tuple(found.values())


def _text_of(item: Any) -> Any:
    if not isinstance(item, dict):
        raise ValueError("a perspective is neither a text nor an object")
    return item.get("text")


def _read_jsonl(source: Path) -> Imported:
    questions: dict[str, Question] = {}
    layout = "JSONL"
    for line, row in _rows(source):
        try:
            berds = "org_id" in row
            text = row.get("org_q" if berds else "question")
            if not isinstance(text, str) or not text.strip():
                raise ValueError("no question")
            key = str(row["org_id"]) if berds else str(line if row.get("id") is None else row["id"])
            question = Question(key, "", clean(text), read_perspectives(row.get("perspectives", [])))
        except ValueError as error:
            raise BadInputError(f"{error}.", where=source, line=line, hint="Correct this line.") from error
        layout = "BERDS" if berds else layout
        if not berds and key in questions:
            raise BadInputError(f"The id '{key}' stands twice.", where=source, line=line, hint="Give each its own id.")
        questions.setdefault(key, question)
    if not questions:
        raise BadInputError("The file holds no question.", where=source, hint="Nothing was added.")
    return Imported(layout, list(questions.values()))


def _rows(source: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with source.open("rb") as file:
        for line, raw in enumerate(file, start=1):
            if not raw.strip():
                continue
            try:
                row = json.loads(raw.decode("utf-8-sig"))
            except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
                raise BadInputError(f"Not valid JSON: {error}.", where=source, line=line, hint="Correct it.") from error
            if not isinstance(row, dict):
                raise BadInputError("Expected an object.", where=source, line=line, hint="Correct this line.")
            yield line, row


def _read_pir(task: dict[str, Any], source: Path) -> Imported:
    read = pir_task(task, source)
    by_root: dict[str, list[tuple[Perspective, list[str]]]] = {}
    for query in read.queries:
        passages = [read.passages[i].text for i in sorted(query.relevant)]
        perspective = Perspective(query.perspective, _STANCES.get(query.label))
        by_root.setdefault(query.root, []).append((perspective, passages))
    gold: dict[Pair, bool] = {}
    for asked in by_root.values():
        for perspective, _ in asked:
            for other, passages in asked:
                for passage in passages:
                    pair = Pair(passage, perspective.text)
                    gold[pair] = gold.get(pair, False) or other is perspective
    questions = [
        Question(str(n), "", root, tuple(dict.fromkeys(p for p, _ in asked)))
        for n, (root, asked) in enumerate(by_root.items())
    ]
    return Imported("PIR", questions, gold)


def _read_perspectrum(claims: list[dict[str, Any]], source: Path) -> Imported:
    pools = sorted(source.parent.glob("perspective_pool*.json"))
    if not pools:
        raise BadInputError("perspective_pool_v1.0.json is missing beside it.", where=source, hint="Put it there.")
    pool = {p["pId"]: p["text"] for p in json.loads(pools[0].read_text(encoding="utf-8"))}
    questions = []
    for claim in claims:
        perspectives = [
            {"text": pool[cluster["pids"][0]], "stance": _STANCES.get(cluster["stance_label_3"].lower())}
            for cluster in claim["perspectives"]
            if cluster["pids"] and cluster["pids"][0] in pool
        ]
        questions.append(Question(str(claim["cId"]), "", clean(claim["text"]), read_perspectives(perspectives)))
    return Imported("Perspectrum", questions)


def _read_debates(debates: list[dict[str, Any]]) -> Imported:
    questions, gold = [], {}
    for number, debate in enumerate(debates):
        perspectives = []
        for side in ("for", "against"):
            for entry in debate.get(f"perspectives_{side}") or []:
                title = clean(str(entry.get("perspective_title") or ""))
                if not title:
                    continue
                perspectives.append({"text": title, "stance": side})
                argument = (entry.get("argument") or {}).get("description") or []
                for passage in cut("\n".join(p.strip() for p in argument if p and p.strip())):
                    gold[Pair(passage, title)] = True
        claim = clean(str(debate.get("claim_title") or ""))
        if claim and perspectives:
            questions.append(Question(str(number), "", claim, read_perspectives(perspectives)))
    return Imported("debates", questions, gold)
