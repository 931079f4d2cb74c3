"""The whole job of a team lead in a real browser, by mouse and by keyboard alone, without a command: from an empty workspace to
tables, a bundle and a backup."""

import csv
import io
import json
import re
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from sklearn.metrics import cohen_kappa_score

from berdseye.annotation.batches.stored import Batch, list_batches
from berdseye.annotation.judgments.adjudication import adjudicated_labels
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.corpora import open_corpus
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.runs.stored import list_runs, load_run
from berdseye.data.workspace import Workspace
from berdseye.detectors.trained import adopted_detector
from tests.browser.hands import Hand, Keyboard, Mouse
from tests.browser.served import Served, go, new_context, served, settled

pytestmark = pytest.mark.browser

CARS, NUCLEAR = "Should cities ban private cars from their centres?", "Should countries build new nuclear power plants?"
VOTING, ZOOS = "Should voting be compulsory?", "Should zoos be closed?"
PERSPECTIVES = {
    CARS: {
        "supporting": "A ban on private cars makes city centres cleaner, quieter and safer.",
        "opposing": "A ban on private cars harms shops and the people who depend on driving.",
    },
    NUCLEAR: {
        "supporting": "New nuclear power plants supply reliable electricity without carbon emissions.",
        "opposing": "New nuclear power plants cost too much and leave dangerous waste.",
    },
    VOTING: {
        "supporting": "Compulsory voting makes parliaments represent everyone, the poor and the young too.",
        "opposing": "Compulsory voting takes away the freedom to abstain and brings careless votes.",
    },
    ZOOS: {
        "supporting": "Zoos should close because animals suffer in captivity.",
        "opposing": "Zoos should stay open because they save endangered species and teach children.",
    },
}
"""Two questions of the train split, one of dev, one of test."""
_PLACES = ("Oslo", "Ghent", "Madrid", "Paris", "Milan", "Lyon", "Graz", "Bergen", "Turin", "Leeds", "Porto", "Basel",
           "Malmo", "Seville", "Utrecht")  # fmt: skip
_TEXTS = {
    (
        CARS,
        "supporting",
    ): "After {place} closed its centre to private cars, the air became cleaner and streets quieter. Fewer "
    "people were hurt in accidents, and residents of district {n} say that children now play outside safely.",
    (
        CARS,
        "opposing",
    ): "Shops in the centre of {place} lost customers when private cars were banned. Craftsmen, disabled "
    "drivers and families of district {n} who depend on driving say that the ban harms their daily life.",
    (
        NUCLEAR,
        "supporting",
    ): "A study for {place} finds that nuclear power plants supply reliable electricity on windless "
    "nights. Reactor number {n} would replace coal and avoid carbon emissions for sixty years.",
    (
        NUCLEAR,
        "opposing",
    ): "Auditors in {place} report that nuclear power plants cost too much: reactor number {n} came ten "
    "years late. Its radioactive waste stays dangerous, and nobody has found a place to store it.",
    (
        VOTING,
        "supporting",
    ): "When {place} made voting compulsory, poor and young people voted as often as others. District {n} then elected "
    "a parliament that represents everyone, and laws for those who used to stay at home.",
    (
        VOTING,
        "opposing",
    ): "Lawyers in {place} say that compulsory voting takes away the freedom to abstain. In district {n} people who were "
    "forced to the polls chose the first name on the list, so that careless votes decided.",
    (
        ZOOS,
        "supporting",
    ): "The zoo of {place} should close, vets write: its animals suffer in captivity. Elephant number {n} walked in "
    "circles for years in a cage of concrete and died young.",
    (
        ZOOS,
        "opposing",
    ): "The zoo of {place} saves endangered species: its herd number {n} was bred there and released. Every year its "
    "keepers teach thousands of children why animals need protection.",
}
BAD_LINE = 31
CORPUS, DATASET, PIPELINES = "opinions", "questions", ("bm25", "dense(static)")
PEOPLE = ("Ana", "Bo")
SUPPORTS, DOES_NOT = "1", "2"


def corpus_file(folder: Path) -> Path:
    """120 documents in JSON Lines, 15 for each side of each question, and a line that is not JSON."""
    lines = [
        json.dumps(
            {"id": f"{topic}-{place}", "title": f"Report from {place}", "text": text.format(place=place, n=n + 1)}
        )
        for topic, text in enumerate(_TEXTS.values())
        for n, place in enumerate(_PLACES)
    ]
    lines.insert(BAD_LINE - 1, '{"title": "cut off", "text": ')
    path = folder / f"{CORPUS}.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def questions_file(folder: Path) -> Path:
    """Four questions with two perspectives each, as a spreadsheet saves them."""
    path = folder / f"{DATASET}.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["question", "perspective", "stance"])
        writer.writerows([q, text, stance] for q, by in PERSPECTIVES.items() for stance, text in by.items())
    return path


def opening(question: str, stance: str) -> str:
    """The words that every text of this side has and no other."""
    return _TEXTS[question, stance].partition("{n}")[0].partition("{place}")[2]


@dataclass
class Walk:
    """A person's way through the app: where they are, and how long each step took."""

    server: Served
    page: Page
    hand: Hand
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def workspace(self) -> Workspace:
        return Workspace.open(self.server.workspace)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - began

    def to(self, title: str) -> None:
        """Open a page from the navigation."""
        link = self.page.get_by_test_id("stSidebarNav").get_by_role("link", name=title, exact=True)
        self.click(link)
        expect(self.page.get_by_role("heading", level=1, name=title, exact=True)).to_be_visible()
        settled(self.page)

    def press(self, name: str) -> None:
        """Press the one button of the page with this name."""
        self.click(self.page.get_by_test_id("stMain").get_by_role("button", name=name, exact=True))

    def click(self, target: Locator) -> None:
        settled(target.page)
        self.hand.click(target)
        settled(target.page)

    def enter(self, page: Page, name: str) -> None:
        """Open the app as a person who never was there, and give a name."""
        go(page, self.server.url)
        sidebar = page.get_by_test_id("stSidebar")
        self.hand.write(sidebar.get_by_role("combobox"), name)
        expect(sidebar.locator("strong")).to_have_text(name)
        settled(page)

    def choose(self, label: str, options: tuple[str, ...]) -> None:
        """Choose in a list with several choices, or type what it does not offer."""
        box = self.page.get_by_role("combobox", name=re.compile(f"(^|, ?|\\. ?){label}$"))
        for option in options:
            self.hand.write(box, option)
        self.page.keyboard.press("Escape")
        settled(self.page)

    @contextmanager
    def log(self) -> Iterator[Judgments]:
        held = Judgments.open(self.workspace.judgments_url)
        yield held
        held.engine.dispose()


def table_of(seconds: dict[str, float]) -> str:
    """The seconds of each step in lines."""
    rows = [*seconds.items(), ("in all", sum(seconds.values()))]
    return "\n".join(f"{name:<44}{spent:>7.1f} s" for name, spent in rows)


# The steps ------------------------------------------------------------------------------------------------------------


def add_corpus(walk: Walk, file: Path) -> None:
    page = walk.page
    walk.enter(page, PEOPLE[0])
    expect(page.get_by_role("heading", name="Set up this workspace")).to_be_visible()
    walk.press("Add a corpus")
    walk.hand.upload(page, file)
    expect(page.get_by_text("120 documents, 120 passages")).to_be_visible()
    expect(page.get_by_text("1 invalid row")).to_be_visible()
    settled(page)
    walk.click(page.get_by_role("switch", name="Skip invalid rows"))
    walk.press("Add the corpus")
    expect(page.get_by_text("First passages")).to_be_visible()
    expect(page.get_by_text("1 row was skipped")).to_be_visible()
    corpus = open_corpus(walk.workspace, CORPUS)
    assert (corpus.manifest.count, corpus.manifest.left_out) == (120, 1)
    assert f"line {BAD_LINE}:" in corpus.manifest.bad_rows[0]


def add_questions(walk: Walk, file: Path) -> None:
    page = walk.page
    walk.to("Home")
    walk.press("Add questions")
    walk.hand.upload(page, file)
    expect(page.get_by_text("4 questions, 8 perspectives")).to_be_visible()
    settled(page)
    walk.press("Add the data set")
    expect(page.get_by_text(f"Added {DATASET}: 4 questions.")).to_be_visible()
    questions = load_dataset(walk.workspace, DATASET)
    assert {q.text: {p.stance: p.text for p in q.perspectives} for q in questions} == PERSPECTIVES


def run_pipelines(walk: Walk) -> None:
    page = walk.page
    walk.to("Home")
    walk.press("Run a pipeline")
    for number, pipeline in enumerate(PIPELINES, start=1):
        walk.hand.pick(page.get_by_role("combobox", name=re.compile("Pipeline$")), pipeline)
        settled(page)
        walk.press("Run")
        for done in PIPELINES[:number]:
            expect(page.get_by_test_id("stVegaLiteChart").get_by_text(f"{done}, {CORPUS}")).to_be_visible()
    assert sorted(run.pipeline for run in list_runs(walk.workspace)) == sorted(PIPELINES)


def create_batch(walk: Walk) -> None:
    page = walk.page
    walk.to("Batches")
    walk.press("New batch")
    walk.press("Measure agreement")
    walk.choose("People", PEOPLE)
    walk.choose("Runs", PIPELINES)
    walk.hand.write(page.get_by_label("Top k", exact=True), "2")
    settled(page)
    walk.press("Create batch")
    expect(page.get_by_text(re.compile(r"Created agreement-1: \d+ pairs\."))).to_be_visible()
    batch = the_batch(walk)
    assert ({p.name for p in batch.people}, batch.per_pair, batch.blind) == (set(PEOPLE), 2, True)


def the_batch(walk: Walk) -> Batch:
    with walk.log() as held:
        (batch,) = list_batches(held)
    return batch


def judge_all(walk: Walk, page: Page, name: str) -> None:
    """Judge every pair of the batch by keys: what a text says is known from its words. Bo errs on every fifth pair."""
    done, every = progress(page)
    assert done == 0
    for number in range(every):
        expect(page.get_by_test_id("stProgress")).to_contain_text(f"{number} of {every} pairs")
        settled(page)
        page.keyboard.press(verdict(page, contrary=name == PEOPLE[1] and number % 5 == 0))
    expect(page.get_by_text(f"You have judged all {every} pairs of")).to_be_visible()
    with walk.log() as held:
        assert Counter(j.annotator.name for j in held.present())[name] == every


def progress(page: Page) -> tuple[int, int]:
    found = re.search(r"(\d+) of (\d+) pairs", page.get_by_test_id("stProgress").inner_text())
    assert found is not None
    return int(found[1]), int(found[2])


def verdict(page: Page, *, contrary: bool = False) -> str:
    """The key of the verdict on the pair on the screen."""
    card = page.locator(".st-key-pair-card")
    shown = " ".join(card.inner_text().replace("\u2060", "").split())
    question, stance = next((q, s) for q, by in PERSPECTIVES.items() for s, text in by.items() if text in shown)
    says = opening(question, stance) in shown
    return SUPPORTS if says != contrary else DOES_NOT


def both_judge(walk: Walk, browser: Browser) -> None:
    walk.to("Home")
    to_batch = re.compile("pairs to judge in the batch agreement-1")
    walk.click(walk.page.get_by_role("button", name=to_batch))
    judge_all(walk, walk.page, PEOPLE[0])
    context = new_context(browser)
    other = context.new_page()
    walk.enter(other, PEOPLE[1])
    walk.click(other.get_by_role("button", name=to_batch))
    expect(other.get_by_test_id("stProgress")).to_be_visible()
    settled(other)
    judge_all(walk, other, PEOPLE[1])
    context.close()


def adjudicate_all(walk: Walk) -> None:
    page = walk.page
    walk.to("Home")
    walk.click(page.get_by_role("button", name=re.compile("disputed pairs to decide")))
    expect(page.get_by_text(re.compile(r"\d+ to adjudicate"))).to_be_visible()
    settled(page)
    found = re.search(r"(\d+) to adjudicate", page.get_by_test_id("stMain").inner_text())
    assert found is not None
    disputed = int(found[1])
    for left in range(disputed, 0, -1):
        expect(page.get_by_text(f"{left} to adjudicate", exact=True)).to_be_visible()
        settled(page)
        page.keyboard.press(verdict_of_dispute(page))
    expect(page.get_by_text(f"{disputed} pairs are adjudicated")).to_be_visible()
    with walk.log() as held:
        assert len(adjudicated_labels(held)) == disputed


def verdict_of_dispute(page: Page) -> str:
    """The key of the verdict on the disputed pair on the screen."""
    shown = " ".join(page.get_by_test_id("stMain").inner_text().replace("\u2060", "").split())
    question, stance = next((q, s) for q, by in PERSPECTIVES.items() for s, text in by.items() if text in shown)
    return SUPPORTS if opening(question, stance) in shown else DOES_NOT


def saved(walk: Walk, button: Locator) -> bytes:
    """What a download button gives."""
    settled(walk.page)
    with walk.page.expect_download() as started:
        walk.hand.click(button)
    return Path(started.value.path()).read_bytes()


def read_agreement(walk: Walk) -> None:
    page = walk.page
    walk.to("Agreement")
    expect(page.get_by_text("Ana and Bo disagree on")).to_be_visible()
    box = page.get_by_role("combobox", name=re.compile("Table$"))
    box.scroll_into_view_if_needed()
    walk.hand.pick(box, "Pairs of raters")
    settled(page)
    latex = saved(walk, page.get_by_role("button", name=re.compile(r"^(?!Methods).*\.tex$"))).decode()
    assert "tabular" in latex
    assert f"{kappa(walk):.3f}" in latex, latex


def kappa(walk: Walk) -> float:
    """Cohen's kappa of the two people by another implementation."""
    with walk.log() as held:
        votes = held.frame().pivot(index="pair", columns="annotator", values="verdict")
    return float(cohen_kappa_score(votes[PEOPLE[0]], votes[PEOPLE[1]]))


def train_and_adopt(walk: Walk) -> None:
    page = walk.page
    walk.to("Detectors")
    walk.click(page.get_by_role("tab", name="Train a better one"))
    walk.hand.write(page.get_by_label("Name", exact=True), "mine")
    settled(page)
    walk.press("Train")
    expect(page.get_by_text("mine is being trained")).to_be_visible()
    walk.click(page.get_by_role("tab", name="Detectors"))
    expect(page.get_by_test_id("stTable").get_by_text("stance(mine)", exact=True)).to_be_visible()
    walk.hand.pick(page.get_by_role("combobox", name=re.compile("Detector$")), "stance(mine)")
    settled(page)
    walk.press("Use")
    expect(page.get_by_test_id("stTable").get_by_role("row", name="in use")).to_contain_text("stance(mine)")
    assert adopted_detector(walk.workspace) == "stance(mine)"


def compare_runs(walk: Walk) -> None:
    page = walk.page
    walk.to("Compare")
    expect(page.get_by_text("Question by question, by")).to_be_visible()
    for side in "AB":
        walk.hand.pick(page.get_by_role("combobox", name=re.compile(f"Labels of {side} from$")), "human")
        settled(page)
    walk.press("Options")
    walk.hand.write(page.get_by_label("Measures", exact=True), "Coverage@2")
    page.keyboard.press("Escape")
    expect(page.get_by_role("radio", name="Coverage@2")).to_be_visible()
    settled(page)
    table = pd.read_csv(io.BytesIO(saved(walk, page.locator(".st-key-download-compared-csv button"))))
    shown = table[table["measure"] == "Coverage@2"].iloc[0]
    runs = {run.pipeline: run.name for run in list_runs(walk.workspace)}
    assert sorted((shown["first"], shown["second"])) == pytest.approx(sorted(coverage(walk, n) for n in runs.values()))
    walk.to("Runs")
    box = page.get_by_role("combobox", name=re.compile("Labels from$"))
    walk.hand.pick(box, f"human>{adopted_detector(walk.workspace)}")
    expect(page.get_by_text(f"labels from human>{adopted_detector(walk.workspace)}")).to_be_visible()
    for pipeline in PIPELINES:
        expect(page.get_by_test_id("stVegaLiteChart").get_by_text(f"{pipeline}, {CORPUS}")).to_be_visible()


def coverage(walk: Walk, name: str) -> float:
    """The mean share of perspectives that a judged text of the first two supports. The wrong verdicts were adjudicated, so
    that every judged pair has the label that the words of its text give it."""
    run, corpus = load_run(walk.workspace, name), open_corpus(walk.workspace, CORPUS)
    texts = {q.id: q.text for q in load_dataset(walk.workspace, DATASET)}
    with walk.log() as held:
        judged = set(held.frame()[["perspective", "passage"]].itertuples(index=False, name=None))
    shares = []
    for question_id, ids in zip(run.question_ids, run.ids, strict=True):
        question = texts[question_id]
        read = [passage.text for passage in corpus.passages([int(i) for i in ids[:2]])]
        found = [
            any((perspective, text) in judged and opening(question, stance) in text for text in read)
            for stance, perspective in PERSPECTIVES[question].items()
        ]
        shares.append(sum(found) / len(found))
    return sum(shares) / len(shares)


def export_bundle(walk: Walk) -> None:
    page = walk.page
    walk.click(page.get_by_role("button", name="Bundle", exact=True))
    bundle = saved(walk, page.get_by_role("button", name="Download the bundle", exact=True))
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        names = archive.namelist()
    assert sum(name.startswith("runs/") for name in names) == len(PIPELINES)
    assert any(name.endswith(".tex") for name in names)


def back_up(walk: Walk) -> None:
    page = walk.page
    walk.to("Workspace")
    walk.click(page.get_by_role("tab", name="Backup"))
    walk.press("Make a backup")
    backup = saved(walk, page.get_by_role("button", name="Download", exact=True))
    with zipfile.ZipFile(io.BytesIO(backup)) as archive:
        assert archive.testzip() is None


# The tests ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Served]:
    """The app on an empty workspace."""
    Workspace.create(tmp_path / "workspace")
    with served(tmp_path / "workspace", tmp_path / "log") as server:
        yield server


@pytest.mark.parametrize("hand", [Mouse(), Keyboard()], ids=["mouse", "keyboard"])
def test_from_an_empty_workspace_to_a_bundle(
    empty: Served, page: Page, browser: Browser, tmp_path: Path, hand: Hand
) -> None:
    walk = Walk(empty, page, hand)
    with walk.step("Add a corpus"):
        add_corpus(walk, corpus_file(tmp_path))
    with walk.step("Add questions"):
        add_questions(walk, questions_file(tmp_path))
    with walk.step("Run two pipelines"):
        run_pipelines(walk)
    with walk.step("Create a batch"):
        create_batch(walk)
    with walk.step("Two people judge every pair"):
        both_judge(walk, browser)
    with walk.step("Adjudicate"):
        adjudicate_all(walk)
    with walk.step("Agreement and its LaTeX table"):
        read_agreement(walk)
    with walk.step("Train a detector and adopt it"):
        train_and_adopt(walk)
    with walk.step("Compare runs"):
        compare_runs(walk)
    with walk.step("Export a bundle"):
        export_bundle(walk)
    with walk.step("Back up"):
        back_up(walk)
    print(f"\n{table_of(walk.seconds)}")
