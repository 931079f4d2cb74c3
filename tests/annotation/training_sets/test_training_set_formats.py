"""Training sets in the forms that others read, also with texts that mean harm."""

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from berdseye.annotation.judgments.log import VERDICTS, Judgments, PairRecord
from berdseye.annotation.label_studio.form import CONFIG, check_config, pair_of, read_judgment
from berdseye.annotation.training_sets.formats import write_hugging_face, write_jsonl, write_label_studio
from berdseye.annotation.training_sets.store import TrainingSetVersion, create
from berdseye.app.jobs.training_sets import FILE_ENDINGS, file_of_set, write_set
from berdseye.data.datasets.labelled_pairs import read_labelled_pairs
from berdseye.data.datasets.stored import split_of
from berdseye.data.errors import BadInputError
from berdseye.data.workspace import Workspace
from berdseye.detectors.prompts import chats
from tests.annotation.training_sets.hostile_texts import HOSTILE


@pytest.fixture
def made(workspace: Workspace, judgments: Judgments) -> TrainingSetVersion:
    """Every hostile text as question, title, passage, perspective, comment and name, and enough others for all splits."""
    for n, text in enumerate([*HOSTILE, *(f"Plain {n}." for n in range(60))]):
        question = f"{text} Question {n}?"
        pair = PairRecord(
            "d", text, question, f"{text} perspective {n}", "opposing", "c", text, f"{text} passage {n}", text
        )
        (key,) = judgments.add_pairs([pair])
        name = " ".join(text.split())[:80]
        person = judgments.sign_in(name if name.isprintable() and name else f"Someone {n}")
        judgments.judge(person, key, VERDICTS[n % 2], source="annotate", comment=text)
    return create(workspace, judgments)


def test_jsonl_gives_back_every_pair_as_it_was(made: TrainingSetVersion, tmp_path: Path) -> None:
    (path,) = write_jsonl(made, tmp_path / "pairs.jsonl")
    there = read_labelled_pairs(path)
    assert [(p.pair, p.supports, p.question, p.split, p.stance) for p in there] == [
        (p.pair, p.supports, p.question, p.split, p.stance) for p in made.pairs()
    ]
    assert len(there) == len(HOSTILE) + 60
    assert {p.split for p in there} == {"train", "dev", "test"}
    assert all(p.split == split_of(p.question) for p in there)


def test_a_card_holds_nothing_that_people_wrote(made: TrainingSetVersion, tmp_path: Path) -> None:
    write_hugging_face(made, tmp_path / "hub")
    card = (tmp_path / "hub" / "README.md").read_text(encoding="utf-8")
    assert not any(text in card for text in HOSTILE)
    assert card.startswith("---\ntask_categories:")
    assert card.count("---\n") == 2, "around the YAML, and nowhere else"
    assert f"`{made.hash}`" in card
    with pytest.raises(BadInputError, match="is not empty"):
        write_hugging_face(made, tmp_path / "hub")


def test_parquet_files_hold_all_rows_and_their_types(made: TrainingSetVersion, tmp_path: Path) -> None:
    write_hugging_face(made, tmp_path / "hub")
    files = sorted((tmp_path / "hub" / "data").iterdir())
    assert [f.name.partition("-")[0] for f in files] == ["test", "train", "validation"]
    tables = [pq.read_table(f) for f in files]
    there = {row["pair"]: row for table in tables for row in table.to_pylist()}
    assert there == {row["pair"]: row for row in pq.read_table(made.path).to_pylist()}
    told = json.loads(tables[0].schema.metadata[b"huggingface"])["info"]["features"]
    assert told["label"] == {"names": ["does not support", "supports"], "_type": "ClassLabel"}
    assert list(told) == tables[0].column_names


LOADED = """
import json, sys, datasets
datasets.disable_progress_bars()
held = datasets.load_dataset(sys.argv[1], cache_dir=sys.argv[2])
print(json.dumps({split: [len(rows), rows.features["label"].names, rows["passage"][:]] for split, rows in held.items()}))
"""


def test_the_datasets_library_loads_the_folder(made: TrainingSetVersion, tmp_path: Path) -> None:
    """In a process of its own, which finds the library where `HF_DATASETS_PATH` says, or where it is installed."""
    where = os.environ.get("HF_DATASETS_PATH", "")
    own = {**os.environ, "PYTHONPATH": where, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "home")}
    if subprocess.run([sys.executable, "-c", "import datasets"], env=own, capture_output=True, cwd=tmp_path).returncode:
        pytest.skip("the library datasets is not installed")
    write_hugging_face(made, tmp_path / "hub")
    command = [sys.executable, "-c", LOADED, str(tmp_path / "hub"), str(tmp_path / "cache")]
    done = subprocess.run(command, env=own, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert set(found) == {"train", "validation", "test"}
    assert all(names == ["does not support", "supports"] for _, names, _ in found.values())
    assert sorted(p for _, _, passages in found.values() for p in passages) == sorted(
        p.pair.passage for p in made.pairs()
    )


def test_label_studio_tasks_are_those_of_our_own_projects(made: TrainingSetVersion, tmp_path: Path) -> None:
    check_config(CONFIG, "made")
    (path,) = write_label_studio(made, tmp_path / "tasks.json")
    tasks = json.loads(path.read_text(encoding="utf-8"))
    there = {}
    for task in tasks:
        pair = pair_of(task["data"])
        assert pair is not None
        (annotation,) = task["annotations"]
        assert annotation["ground_truth"] is True
        there[pair.key] = read_judgment(annotation["result"]).verdict == "supports"
    assert there == {p.pair.key: p.supports for p in made.pairs()}


def test_chats_ask_as_the_detector_does_and_answer_with_the_label(made: TrainingSetVersion) -> None:
    pairs = made.pairs()
    for pair, chat in zip(pairs, chats(pairs), strict=True):
        assert list(chat) == ["messages"]
        assert [m["role"] for m in chat["messages"]] == ["system", "user", "assistant"]
        assert chat["messages"][2]["content"] == ("Yes" if pair.supports else "No")
        asked = chat["messages"][1]["content"]
        assert (asked.count("<passage>"), asked.count("</passage>")) == (1, 1), "no text closes its fence"
        assert json.loads(json.dumps(chat)) == chat


@pytest.mark.parametrize("form", FILE_ENDINGS)
def test_a_download_holds_what_the_command_writes(form: str, made: TrainingSetVersion, tmp_path: Path) -> None:
    content = file_of_set(made, form)
    path = tmp_path / "exported"
    files = write_set(made, path, form)
    if not FILE_ENDINGS[form].endswith(".zip"):
        assert content == path.read_bytes()
        return
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {
            str(file.relative_to(path)): file.read_bytes() for file in files
        }
