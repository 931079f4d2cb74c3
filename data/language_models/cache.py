"""The cache of completions in a workspace, so that no completion is paid for twice.

It is an SQLite database in WAL mode: any number of processes can read and append concurrently, and a reported completion is
on disk. Rows are only added. If two processes request one completion at the same time, both rows stay, since both were
paid for, and the first one counts.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import Any, NamedTuple

from filelock import FileLock

from berdseye.data.errors import UnavailableError
from berdseye.data.language_models.cost import count
from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.data.language_models.protocol import Alternative, Completion, LanguageModel, Prompt
from berdseye.data.progress import Progress, silent
from berdseye.data.texts.passages import clean
from berdseye.data.workspace import Workspace

_BUSY_SECONDS = 30
_SCHEMA = """
CREATE TABLE IF NOT EXISTS prompts (version TEXT PRIMARY KEY, name TEXT NOT NULL, messages TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS completions (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL,
    model TEXT NOT NULL, model_version TEXT NOT NULL,
    prompt TEXT NOT NULL, prompt_version TEXT NOT NULL REFERENCES prompts (version), slots TEXT NOT NULL,
    max_tokens INTEGER NOT NULL, temperature REAL NOT NULL, seed INTEGER NOT NULL,
    output TEXT NOT NULL, prompt_tokens INTEGER, completion_tokens INTEGER, cost REAL, created TEXT NOT NULL,
    alternatives TEXT, top_p REAL
) STRICT;
CREATE INDEX IF NOT EXISTS completions_by_key ON completions (key);
PRAGMA user_version = 3;
"""
_UPGRADES = (
    "ALTER TABLE completions ADD COLUMN alternatives TEXT; PRAGMA user_version = 2;",
    "ALTER TABLE completions ADD COLUMN top_p REAL; PRAGMA user_version = 3;",
)
_FORMAT = len(_UPGRADES) + 1
_NEW = """
INSERT INTO completions (key, model, model_version, prompt, prompt_version, slots, max_tokens, temperature, seed,
                         output, prompt_tokens, completion_tokens, cost, alternatives, top_p, created)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_FIRST = """
SELECT key, output, prompt_tokens, completion_tokens, cost, alternatives FROM completions
WHERE id IN (SELECT min(id) FROM completions WHERE key IN (SELECT value FROM json_each(?)) GROUP BY key)
"""
_SUMS = """
SELECT count(*), coalesce(sum(prompt_tokens), 0), coalesce(sum(completion_tokens), 0), coalesce(sum(cost), 0.0),
       count(*) FILTER (WHERE cost IS NULL)
FROM completions WHERE ?1 IS NULL OR model = ?1
"""
_SINCE = "SELECT coalesce(max(id), ?), coalesce(sum(cost), 0.0) FROM completions WHERE id > ?"


class Spent(NamedTuple):
    """The number of calls so far, their tokens, and their cost in dollars, without `unpriced` calls of unknown price."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float
    unpriced: int


class CompletionCache:
    """Completions by model version, prompt, filled-in text, length limit, temperature, top-p, seed and number of alternatives."""

    def __init__(self, workspace: Workspace) -> None:
        self.path = workspace.folder / "generated" / "completions.db"

    def complete(
        self,
        model: LanguageModel,
        template: PromptTemplate,
        values: Sequence[Mapping[str, str]],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        top_p: float = 1.0,
        seed: int = 0,
        alternatives: int = 0,
        progress: Progress = silent,
    ) -> list[Completion]:
        """A completion of the template for each mapping of its slots, from the cache if it is stored.

        The model completes the others, and each completion is stored as soon as it is finished, so that an interrupted batch
        resumes where it stopped.
        """
        prompts = [template.fill(slots) for slots in values]
        settings = (max_tokens, float(temperature), seed if temperature > 0 else 0)
        drawn_from = top_p if temperature > 0 and top_p < 1 else None
        keys = [_key(model.version, template, prompt, settings, alternatives, drawn_from) for prompt in prompts]
        completions = self._stored(keys)
        missing = {key: place for place, key in enumerate(keys) if key not in completions}
        if missing:
            new = list(missing)
            made_by = (model.name, model.version, template.name, template.version)

            def store(place: int, completion: Completion) -> None:
                slots = {slot: clean(text) for slot, text in values[missing[new[place]]].items()}
                with self._open() as database:
                    database.execute(
                        "INSERT OR IGNORE INTO prompts VALUES (?, ?, ?)",
                        (template.version, template.name, _text(template.messages)),
                    )
                    *fields, first_tokens = completion._replace(text=clean(completion.text))
                    row = (new[place], *made_by, _text(slots), *settings, *fields, first_tokens and _text(first_tokens))
                    database.execute(_NEW, (*row, drawn_from, datetime.now(UTC).isoformat()))

            model.complete(
                [prompts[place] for place in missing.values()],
                max_tokens=max_tokens,
                temperature=temperature,
                top_p=top_p,
                seed=seed,
                alternatives=alternatives,
                progress=progress,
                ready=store,
            )
            completions |= self._stored(new)
        count(completions[key] for key in dict.fromkeys(keys))
        return [completions[key] for key in keys]

    def spent(self, model: str | None = None) -> Spent:
        """The totals of all calls so far, or of the calls of one model, given by its canonical name."""
        if not self.path.exists():
            return Spent(0, 0, 0, 0.0, 0)
        with self._open() as database:
            return Spent(*database.execute(_SUMS, (model,)).fetchone())

    def cost_after(self, call: int) -> tuple[int, float]:
        """The number of the last call, and the cost of all calls after `call` in dollars."""
        if not self.path.exists():
            return 0, 0.0
        with self._open() as database:
            last, cost = database.execute(_SINCE, (call, call)).fetchone()
            return int(last), float(cost)

    def _stored(self, keys: Sequence[str]) -> dict[str, Completion]:
        if not self.path.exists():
            return {}
        with self._open() as database:
            rows = database.execute(_FIRST, (json.dumps(keys),)).fetchall()
        return {
            key: Completion(text, prompt_tokens, completion_tokens, cost, _alternatives(first_tokens))
            for key, text, prompt_tokens, completion_tokens, cost, first_tokens in rows
        }

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Open the database for one transaction, which is on disk when it ends."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=_BUSY_SECONDS)) as database:
                database.execute("PRAGMA synchronous = FULL")
                if _format(database) < _FORMAT:
                    # SQLite does not wait while another process switches to WAL, so a lock lets one do it at a time.
                    with FileLock(f"{self.path}.making"):
                        database.execute("PRAGMA journal_mode = WAL")
                        for script in _UPGRADES[made - 1 :] if (made := _format(database)) else (_SCHEMA,):
                            database.executescript(script)
                with database:
                    yield database
        except (sqlite3.Error, OSError) as error:
            raise UnavailableError(
                f"The stored completions cannot be read or written: {error}.",
                where=self.path,
                hint="Check the free space and the permissions of the folder. If the file is damaged, move it away; "
                "texts are then generated again.",
            ) from error


def _format(database: sqlite3.Connection) -> int:
    return int(database.execute("PRAGMA user_version").fetchone()[0])


def _key(
    version: str,
    template: PromptTemplate,
    prompt: Prompt,
    settings: tuple[int, float, int],
    alternatives: int,
    top_p: float | None,
) -> str:
    # Without alternatives and top-p, the key is that of versions that had none, so that older completions are found.
    parts = [version, template.name, template.version, prompt, settings, *([alternatives] if alternatives else [])]
    parts += [{"top_p": top_p}] if top_p is not None else []
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _alternatives(stored: str | None) -> tuple[Alternative, ...] | None:
    return None if stored is None else tuple(Alternative(*entry) for entry in json.loads(stored))


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
