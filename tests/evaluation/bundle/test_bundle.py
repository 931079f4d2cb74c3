"""Bundles: the same bytes every time, every number computed again, and each kind of tampering told by name."""

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.datasets.stored import load_dataset, save_dataset
from berdseye.data.errors import BadInputError
from berdseye.data.runs.stored import Run, list_runs, load_run, save_run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.bundle.archive import MANIFEST, hashes, zipped
from berdseye.evaluation.bundle.tables import CSV_FILE, JSON_FILE, LATEX_FILE, rows_of, table_files
from berdseye.evaluation.bundle.verifying import verify
from berdseye.evaluation.bundle.writing import bundle_of
from berdseye.evaluation.labels.sources import parse_label_source
from berdseye.evaluation.measures import parse_measures
from berdseye.evaluation.scores.score import macro_average
from berdseye.evaluation.scores.scoring import score_runs
from berdseye.evaluation.selection.batches import drawn_order
from berdseye.evaluation.studies.berds.base import base
from berdseye.evaluation.studies.by_name.study_registry import run_study
from berdseye.evaluation.studies.comparing import comparisons
from berdseye.evaluation.studies.gathering import Gatherer, Selection
from berdseye.evaluation.studies.result import load_result, save_result
from tests.evaluation.small_workspace import CORPUS, DATASET, PIPELINE, judge, put_gold, send_random_questions

MEASURES = "MRecall@2 Precision@3 nDCG@3 Recall@2 Rprec alpha_nDCG@3"
GOLD = {
    (0, 0, 0): True, (0, 1, 0): False, (0, 0, 1): False, (0, 1, 1): True, (0, 0, 2): False, (0, 1, 2): False,
    (1, 0, 3): False, (1, 0, 2): True,
}  # fmt: skip
RUN, QRELS = f"runs/{DATASET}--{CORPUS}--{PIPELINE}.run", f"labels/{DATASET}--{CORPUS}.qrels"

Files = dict[str, bytes]


@pytest.fixture
def runs(small: Workspace, run: Run) -> list[Run]:
    """The run, and one more on a data set of its own, so that there is an average."""
    put_gold(small, GOLD)
    save_dataset(small, "other", load_dataset(small, DATASET))
    ids = np.full_like(run.ids, -1)
    for turned, row in zip(ids, run.ids, strict=True):
        turned[: (row >= 0).sum()] = row[row >= 0][::-1]
    saved = save_run(
        small, dataset="other", corpus=CORPUS, corpus_hash=run.manifest.corpus_hash, pipeline=PIPELINE,
        question_ids=run.question_ids, ids=ids, scores=run.scores, milliseconds_per_question=1,
    )  # fmt: skip
    return [run, load_run(small, saved.name)]


def made(
    workspace: Workspace, judgments: Judgments, runs: list[Run], source: str = "gold", measures: str = MEASURES
) -> bytes:
    return bundle_of(workspace, judgments, runs, parse_label_source(source), parse_measures(measures))


def files_of(content: bytes) -> Files:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def put(folder: Path, files: Files, *, rehash: bool = False) -> Path:
    """A bundle of these files; with `rehash` its manifest vouches for them, as a careful forger's would."""
    if rehash:
        manifest = json.loads(files[MANIFEST])
        manifest["files"] = hashes({k: v for k, v in files.items() if k != MANIFEST})
        files = files | {MANIFEST: json.dumps(manifest).encode()}
    (folder / "x.zip").write_bytes(zipped(files))
    return folder / "x.zip"


@pytest.fixture
def files(small: Workspace, judgments: Judgments, runs: list[Run]) -> Files:
    return files_of(made(small, judgments, runs))


def test_the_same_workspace_gives_the_same_bytes(small: Workspace, judgments: Judgments, runs: list[Run]) -> None:
    assert made(small, judgments, runs) == made(small, judgments, runs)


def test_the_numbers_are_those_of_evaluate(
    small: Workspace, judgments: Judgments, runs: list[Run], files: Files, tmp_path: Path
) -> None:
    scores = score_runs(small, judgments, runs, parse_label_source("gold"), parse_measures(MEASURES))
    expected = rows_of([*scores, *macro_average(scores)])
    assert json.loads(files[JSON_FILE]) == expected
    assert {row["dataset"] for row in expected} == {DATASET, "other", "average"}
    found = verify(put(tmp_path, files))
    assert found.mismatches == ()
    assert found.numbers == 6 * len(expected)
    listed = json.loads(files[MANIFEST])["files"]
    assert {name: listed[name]["sha256"] for name in listed} == {
        name: hashlib.sha256(content).hexdigest() for name, content in files.items() if name != MANIFEST
    }


@pytest.mark.parametrize(
    "source", ["human", "random", "human>random", "corrected(random)", "corrected(random,random(0.3))"]
)
def test_every_label_source_can_be_verified(
    small: Workspace, judgments: Judgments, runs: list[Run], tmp_path: Path, source: str
) -> None:
    """Also where people said little: the same questions count then and now."""
    if source.startswith("corrected("):
        cars_first = next(s for s in range(50) if drawn_order(["zoos", "cars"], 2, f"{s} {DATASET}")[0] == "cars")
        send_random_questions(small, judgments, [runs[0].manifest.name], 2, 2, seed=cars_first)
    ana = judgments.sign_in("Ana")
    judge(judgments, ana, 1, 0, 3, "supports")
    judge(judgments, ana, 1, 0, 2, "does not support")
    content = made(small, judgments, runs, source, "MRecall@2 Precision@2")
    found = verify(put(tmp_path, files_of(content)))
    assert found.mismatches == ()
    assert found.numbers > 0


def test_nobody_judged(small: Workspace, judgments: Judgments, runs: list[Run], tmp_path: Path) -> None:
    held = files_of(made(small, judgments, runs, "human"))
    assert held[QRELS] == b""
    assert verify(put(tmp_path, held)).mismatches == ()
    assert {row["value"] for row in json.loads(held[JSON_FILE])} == {None}


def flip_label(files: Files) -> None:
    first, rest = files[QRELS].split(b"\n", 1)
    files[QRELS] = first[:-1] + (b"0" if first.endswith(b"1") else b"1") + b"\n" + rest


def swap_ranks(files: Files) -> None:
    """The best passage of the last question that has any is said to be the worst."""
    lines = files[RUN].decode().splitlines()
    question = lines[3].split()
    question[4] = "-5"
    files[RUN] = "\n".join([*lines[:3], " ".join(question), *lines[4:], ""]).encode()


def other_number(files: Files) -> None:
    rows = json.loads(files[JSON_FILE])
    rows[0]["value"] = 0.123
    files[JSON_FILE] = json.dumps(rows).encode()


def other_csv(files: Files) -> None:
    files[CSV_FILE] = files[CSV_FILE].replace(b",gold,0.", b",gold,0.9", 1)


def other_latex(files: Files) -> None:
    files[LATEX_FILE] = files[LATEX_FILE].replace(b"50.0", b"99.0", 1)


def row_lost(files: Files) -> None:
    files[JSON_FILE] = json.dumps(json.loads(files[JSON_FILE])[1:]).encode()


def perspective_added(files: Files) -> None:
    name = f"questions/{DATASET}.jsonl"
    files[name] = files[name].replace(b'"perspectives": [', b'"perspectives": [{"text": "New."}, ', 1)


@pytest.mark.parametrize(
    ("tamper", "name", "number"),
    [
        (flip_label, QRELS, f"of {PIPELINE} on {DATASET} over {CORPUS} (gold): value is"),
        (swap_ranks, RUN, f"nDCG@3 of {PIPELINE} on {DATASET} over {CORPUS} (gold): value is"),
        (other_number, JSON_FILE, f"MRecall@2 of {PIPELINE} on {DATASET} over {CORPUS} (gold): value is 0.123"),
        (other_csv, CSV_FILE, f"of {PIPELINE} on {DATASET} over {CORPUS} (gold): value is 0.9"),
        (other_latex, LATEX_FILE, f"{LATEX_FILE}, line "),
        (row_lost, JSON_FILE, f"MRecall@2 of {PIPELINE} on {DATASET} over {CORPUS} (gold): computed, but not in"),
        (perspective_added, f"questions/{DATASET}.jsonl", f"MRecall@2 of {PIPELINE} on {DATASET}"),
    ],
)
def test_tampering_is_reported(
    files: Files, tmp_path: Path, tamper: Callable[[Files], None], name: str, number: str
) -> None:
    before = dict(files)
    tamper(files)
    assert {n for n in files if files[n] != before[n]} == {name}
    found = verify(put(tmp_path, files))
    assert found.mismatches[0] == f"{name} was changed: its SHA-256 is not that of the manifest"
    assert any(number in text for text in found.mismatches[1:]), found.mismatches
    forged = verify(put(tmp_path, files, rehash=True))
    assert forged.mismatches == found.mismatches[1:]
    assert forged.mismatches


def test_a_changed_version_is_reported(files: Files, tmp_path: Path) -> None:
    manifest = json.loads(files[MANIFEST])
    manifest["detector"]["version"] = "other"
    found = verify(put(tmp_path, files | {MANIFEST: json.dumps(manifest).encode()}))
    assert found.mismatches
    assert all("detector_version is" in text for text in found.mismatches)


def test_files_more_or_less(files: Files, tmp_path: Path) -> None:
    added = verify(put(tmp_path, files | {"tables/extra.csv": b"1"}))
    assert added.mismatches == ("tables/extra.csv is not in the manifest",)
    del files[QRELS]
    with pytest.raises(BadInputError, match=f"lacks {QRELS[:-6]}"):
        verify(put(tmp_path, files))


def test_a_line_that_cannot_be_read_is_named(files: Files, tmp_path: Path) -> None:
    lines = files[RUN].splitlines(keepends=True)
    path = put(tmp_path, files | {RUN: b"".join([lines[0], b"zoos Q0 nonsense\n", *lines[1:]])})
    with pytest.raises(BadInputError, match="6 fields, got 3") as told:
        verify(path)
    assert (told.value.where, told.value.line) == (f"{path}/{RUN}", 2)


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        (b"{", "cannot be read"),
        (b"[]", "cannot be read"),
        (b"{}", "cannot be read"),
        (b'{"format": 1}', "has format 1"),
        (b'{"format": 2, "files": [], "runs": 3}', "cannot be read"),
    ],
)
def test_bad_manifests(files: Files, tmp_path: Path, manifest: bytes, said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        verify(put(tmp_path, files | {MANIFEST: manifest}))


@pytest.mark.parametrize(
    "name", ["../evil.csv", "/etc/passwd", "tables/../../evil", "tables\\evil", "runs/", "tables/a/b/c", "evil.csv"]
)
def test_names_that_point_elsewhere(files: Files, tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInputError, match="does not belong in a bundle"):
        verify(put(tmp_path, files | {name: b"x"}))
    assert sorted(p.name for p in tmp_path.iterdir() if "evil" in p.name) == []


def test_hostile_zips(files: Files, tmp_path: Path) -> None:
    path = tmp_path / "bad.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, b"{}")
        archive.writestr("tables/bomb.csv", b"0" * (40 << 20))
    with pytest.raises(BadInputError, match="times its size"):
        verify(path)
    link = zipfile.ZipInfo("tables/link.csv")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(link, b"/etc/passwd")
    with pytest.raises(BadInputError, match="not a regular file"):
        verify(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(MANIFEST, b"{}")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr(MANIFEST, b"{}")
    with pytest.raises(BadInputError, match="occurs twice"):
        verify(path)
    whole = zipped(files)
    for content in (b"", b"PK", b"no zip at all", whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(BadInputError, match="cannot be unpacked"):
            verify(path)
    damaged = bytearray(whole)
    at = whole.index(b"questions/made.jsonl") + 40  # inside the packed content, which its checksum tells
    damaged[at] ^= 0xFF
    path.write_bytes(bytes(damaged))
    with pytest.raises(BadInputError, match="cannot be unpacked"):
        verify(path)
    with pytest.raises(BadInputError, match="does not exist"):
        verify(tmp_path / "gone.zip")
    path.write_bytes(zipped({"tables/a.csv": b""}))
    with pytest.raises(BadInputError, match="has no manifest"):
        verify(path)


def test_a_sample_cannot_correct_a_pool(small: Workspace, judgments: Judgments, runs: list[Run]) -> None:
    with pytest.raises(BadInputError, match="cannot correct"):
        made(small, judgments, runs, "corrected(random)", "Recall@5")


def test_studies_that_follow_from_the_runs_are_computed_again(
    small: Workspace, judgments: Judgments, runs: list[Run], tmp_path: Path
) -> None:
    del runs
    gatherer = Gatherer(small, judgments, parse_label_source("gold"))
    selection = Selection((DATASET, "other"), (CORPUS,), ("bm25", "dense(static)"))
    results = [
        load_result(small, save_result(small, study).name)
        for study in (base(gatherer, selection, (2,)), comparisons(gatherer, selection, "Precision@1", seed=3))
    ]
    held = [load_run(small, m.name) for m in list_runs(small) if m.pipeline in selection.pipelines]

    def bundled(measures: str) -> Files:
        parsed = parse_measures(measures)
        return files_of(bundle_of(small, judgments, held, gatherer.source, parsed, results=results))

    files = bundled("MRecall@2 Precision@2 Precision@1")
    found = verify(put(tmp_path, files))
    assert found.mismatches == ()
    assert [name for name in found.only_hashed if name.endswith(".json")] == [
        f"studies/{r.name}/study.json" for r in sorted(results, key=lambda r: r.name)
    ]
    # Figures of a paper do not follow from runs: other versions show others, and a bundle of theirs is still verified.
    [tabled] = [name for name in files if name.endswith("/berds-base-k2.json")]
    older = json.loads(files[tabled])
    older[0]["published"] = 12.5
    older.append({**dict.fromkeys(older[0]), "corpus": "sphere", "pipeline": "bm25", "published": 24.74})
    again = verify(put(tmp_path, files | {tabled: json.dumps(older).encode()}, rehash=True))
    assert (again.mismatches, again.numbers) == ((), found.numbers)
    older[0]["value"] = 12.5
    assert verify(put(tmp_path, files | {tabled: json.dumps(older).encode()}, rehash=True)).mismatches
    [compared] = [name for name in files if name.endswith("/compare.json")]
    cells = json.loads(files[compared])
    cells[0]["value"] += 1
    [told] = verify(put(tmp_path, files | {compared: json.dumps(cells).encode()}, rehash=True)).mismatches
    assert told.startswith(f"{compared}, row 1: value is ")
    assert compared in verify(put(tmp_path, bundled("MRecall@2"))).only_hashed


@pytest.mark.parametrize(
    ("options", "recomputed"), [({}, True), ({"unjudged": "left-out"}, False), ({"min_judged": 0.1}, False)]
)
def test_a_study_by_another_rule_than_the_bundle_is_only_hashed(
    small: Workspace, judgments: Judgments, runs: list[Run], tmp_path: Path, options: dict[str, Any], recomputed: bool
) -> None:
    del runs
    pipelines = ["bm25", "dense(static)"]
    asked: dict[str, Any] = {
        "dataset": DATASET,
        "corpus": CORPUS,
        "pipeline": pipelines,
        "labels": "gold",
        "measure": "Precision@1",
    }
    found = run_study(small, "compare", **asked, **options)
    result = load_result(small, save_result(small, found).name)
    held = [load_run(small, m.name) for m in list_runs(small) if m.pipeline in pipelines and m.dataset == DATASET]
    source, measures = parse_label_source("gold"), parse_measures("Precision@1")
    files = files_of(bundle_of(small, judgments, held, source, measures, results=[result]))
    verdict = verify(put(tmp_path, files))
    assert verdict.mismatches == ()
    assert any(name.endswith("compare.json") for name in verdict.only_hashed) is not recomputed


def as_format_2(files: Files) -> Files:
    """The bundle as the version before wrote it: another format, no rule for unjudged questions."""
    manifest = json.loads(files[MANIFEST])
    manifest["format"] = 2
    del manifest["settings"]["unjudged"]
    return files | {MANIFEST: json.dumps(manifest).encode()}


def test_a_bundle_of_format_2_is_verified_but_for_what_was_redefined(files: Files, tmp_path: Path) -> None:
    rows = json.loads(files[JSON_FILE])
    for row in rows:
        row["judged"] = 0.9
        row["value"] = 0.9 if row["measure"] == "alpha_nDCG@3" else row["value"]
    found = verify(put(tmp_path, as_format_2(files | table_files(rows)), rehash=True))
    assert found.mismatches == ()
    assert "judged@k was divided over all questions" in found.notes[0]
    # Three scores (two data sets and their average) by six measures: judged of each, and three figures of each alpha_nDCG.
    assert found.numbers == 6 * 18 - 18 - 3 * 3
    rows[0]["value"] = 0.123  # MRecall, whose definition is the same
    wrong = verify(put(tmp_path, as_format_2(files | table_files(rows)), rehash=True)).mismatches
    assert len(wrong) == 1
    assert "value is 0.123" in wrong[0]
