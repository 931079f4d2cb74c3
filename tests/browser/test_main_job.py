"""The annotator's and the researcher's day in a real browser: ask, correct with a key, judge, agree, export."""

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Browser, Page, expect

from berdseye.annotation.judgments.log import Judgment, Judgments
from berdseye.data.corpora import add_corpus
from berdseye.data.datasets.stored import save_dataset
from berdseye.data.records import Perspective, Question
from berdseye.data.workspace import Workspace
from tests.browser.served import (
    CARDS,
    FOCUSED,
    Served,
    chips,
    flipped,
    go,
    look_at_passages,
    new_context,
    served,
    settled,
    shown_text,
    sign_in,
    unmarked,
    visit,
)

pytestmark = pytest.mark.browser

CARS = "Should cities ban private cars from their centres?"
HOSTILE = (
    "Uniforms <script>alert(1)</script> <img src=x onerror=alert(2)> **bold** =1+1 $x^2$ :smile: :streamlit: :red[red] "
    "a -> b -- c >= d [link](javascript:alert(3)) # head `code` &lt;"
)
RIGHT_TO_LEFT = "Uniforms الزي المدرسي يجب أن يكون إلزاميا. תלבושת אחידה היא רעיון טוב. 👩‍🏫🎒🏳️‍🌈 ends here."


def words_of(app: Served, name: str) -> list[Judgment]:
    """What the database holds of an annotator, read as another process would."""
    held = Judgments.open(Workspace.open(app.workspace).judgments_url)
    try:
        return [j for j in held.present() if j.annotator.name == name]
    finally:
        held.engine.dispose()


def table(page: Page) -> str:
    return shown_text(page.get_by_test_id("stTable"))


# Explore --------------------------------------------------------------------------------------------------------------


def test_a_key_flips_a_chip_and_u_takes_it_back(app: Served, page: Page) -> None:
    visit(page, f"{app.url}/explore", "Ada")
    first, before = chips(page).first, table(page)
    label = shown_text(first)
    look_at_passages(page)
    page.keyboard.press("1")
    expect(first).to_contain_text(flipped(label))
    expect(page.get_by_test_id("stTable")).not_to_have_text(before, use_inner_text=True)
    (mine,) = words_of(app, "Ada")
    assert (mine.verdict, mine.source) == ("does not support" if " yes" in label else "supports", "explore")
    settled(page)
    after = table(page)
    assert after != before
    page.keyboard.press("u")
    expect(first).to_contain_text(label)
    expect(page.get_by_text(f"Undone: “{mine.verdict}” for")).to_be_visible()
    settled(page)
    assert table(page) == before
    assert words_of(app, "Ada") == []


def test_j_and_k_move_the_keys_to_another_passage(app: Served, page: Page) -> None:
    visit(page, f"{app.url}/explore", "Bela")
    titles = page.locator(CARDS)
    look_at_passages(page)
    page.keyboard.press("j")
    expect(titles.nth(1)).to_have_attribute("aria-current", "true")
    expect(page.locator(FOCUSED)).to_have_count(1)
    label = shown_text(chips(page).nth(1))
    card = unmarked(titles.nth(1))
    page.keyboard.press("2")
    expect(chips(page).nth(1)).to_contain_text(flipped(label))
    (mine,) = words_of(app, "Bela")
    held = Judgments.open(Workspace.open(app.workspace).judgments_url)
    record = held.pair_records([mine.pair])[mine.pair]
    held.engine.dispose()
    assert " ".join(record.passage.split()) in card
    page.keyboard.press("k")
    expect(titles.nth(0)).to_have_attribute("aria-current", "true")
    for further in (1, 2, 3):
        page.keyboard.press("j")
        expect(titles.nth(further)).to_have_attribute("aria-current", "true")
    expect(chips(page).first).to_be_in_viewport()


def test_a_telephone_asks_for_a_name_on_the_page_itself(app: Served, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    go(page, f"{app.url}/annotate")
    box = page.get_by_test_id("stMain").get_by_role("combobox")
    box.click()
    box.fill("Zed")
    box.press("Enter")
    expect(page.locator(".berdseye-passage")).to_be_visible()
    for verdict in ("Supports", "Does not support", "Unsure"):
        expect(page.get_by_role("button", name=verdict).first).to_be_in_viewport()


def test_the_address_holds_the_whole_view(app: Served, page: Page, browser: Browser) -> None:
    go(page, f"{app.url}/explore?set=policy&corpora=web&corpora=pages&pipelines=bm25(k1=1.2,b=0.75)")
    page.get_by_role("button", name="Options").click()
    page.get_by_label("k", exact=True).fill("2")
    page.get_by_label("k", exact=True).press("Enter")
    settled(page)
    page.keyboard.press("Escape")
    question = page.get_by_role("combobox", name=re.compile("Question"))
    old = shown_text(page.get_by_role("heading", level=2).first)
    question.click()
    page.get_by_role("option").nth(3).click()
    heading = page.get_by_role("heading", level=2).first
    expect(heading).not_to_have_text(old)
    expect(page.locator(CARDS)).to_have_count(4)
    settled(page)
    context = new_context(browser)
    other = context.new_page()
    go(other, page.url)
    expect(other.get_by_role("heading", level=2).first).to_have_text(shown_text(heading))
    expect(other.get_by_test_id("stTable")).to_be_visible()
    settled(other)
    assert table(other) == table(page)
    assert "web · bm25(k1=1.2,b=0.75)" in table(other)
    assert shown_text(other.get_by_test_id("stMain")) == shown_text(page.get_by_test_id("stMain"))
    context.close()


def test_a_link_with_a_wrong_name_is_answered_in_place(app: Served, page: Page) -> None:
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    go(page, f"{app.url}/explore?pipelines=bm52")
    expect(page.get_by_role("alert")).to_contain_text("Unknown retriever 'bm52'. Did you mean bm25?")
    go(page, f"{app.url}/explore?pipelines=![x](http://evil.test/x.png)")
    expect(page.get_by_role("alert")).to_contain_text("cannot be read after")
    assert not any("evil.test" in address.split("?")[0] for address in fetched)


def test_a_correction_that_is_shown_outlives_the_server(own_app: Served, page: Page) -> None:
    visit(page, f"{own_app.url}/explore", "Cleo")
    label = shown_text(chips(page).first)
    look_at_passages(page)
    page.keyboard.press("1")
    expect(chips(page).first).to_contain_text(flipped(label))
    own_app.kill()
    assert len(words_of(own_app, "Cleo")) == 1
    own_app.restart()
    page.reload()
    settled(page)
    page.get_by_test_id("stSidebar").get_by_role("button", name="Change").click()
    sign_in(page, "cleo", shown="Cleo")
    expect(chips(page).first).to_contain_text(flipped(label))
    expect(page.locator('[class*="st-key-chip-"]').get_by_text("person").first).to_be_attached()


def test_a_link_into_a_new_tab_finds_the_person_signed_in(app: Served, page: Page) -> None:
    """Also with a name that no cookie can hold as it is; a name that was given up is not there again."""
    name = "Zoë; Ünal=1, <b>x</b>"
    visit(page, f"{app.url}/search?q=cars", name)
    with page.context.expect_page() as opened:
        page.get_by_test_id("stMain").locator('a[href^="passage?"]').first.click()
    other = opened.value
    settled(other)
    who = other.get_by_test_id("stSidebar").locator("strong")
    expect(who).to_have_text(name)
    other.get_by_test_id("stSidebar").get_by_role("button", name="Change").click()
    expect(other.get_by_test_id("stSidebar").get_by_role("combobox")).to_be_visible()
    settled(other)
    other.reload()
    settled(other)
    expect(other.get_by_test_id("stSidebar").get_by_role("combobox")).to_be_visible()
    sign_in(other, "Zed")
    page.get_by_test_id("stSidebar").get_by_role("link", name="Jobs").click()
    settled(page)
    expect(page.get_by_test_id("stSidebar").locator("strong")).to_have_text(name)
    other.reload()
    settled(other)
    expect(who).to_have_text("Zed", use_inner_text=True)


def test_the_first_visitor_of_any_address_finds_the_name_entry(own_app: Served, page: Page) -> None:
    visit(page, f"{own_app.url}/annotate", "Hal")
    expect(page.get_by_test_id("stSidebar").get_by_role("link", name="Runs")).to_be_visible()
    expect(page.get_by_test_id("stProgress")).to_contain_text("0 of")


# Annotate -------------------------------------------------------------------------------------------------------------


def test_keys_judge_pair_after_pair_blind_until_the_word_is_given(app: Served, page: Page) -> None:
    visit(page, f"{app.url}/annotate", "Dora")
    progress = page.get_by_test_id("stProgress")
    expect(progress).to_contain_text(re.compile(r"^0 of \d+ pairs"))
    total = int(shown_text(progress).split()[2])
    main = page.get_by_test_id("stMain")
    assert "detector" not in shown_text(main), "the detector's label would bias the person"
    for number, (key, said) in enumerate(
        [("1", "supports"), ("2", "does not support"), ("3", "unsure"), ("x", "skipped")], start=1
    ):
        perspective = shown_text(page.locator(".st-key-pair-card").get_by_role("heading"))
        page.keyboard.press(key)
        expect(progress).to_contain_text(f"{number} of {total} pairs")
        expect(page.get_by_text(f"you: {said}; detector stance:")).to_be_visible()
        expect(page.get_by_text(f"“{perspective}”")).to_be_visible()
        settled(page)
    assert "P =" not in shown_text(page.locator(".st-key-pair-card"))
    assert [j.verdict for j in words_of(app, "Dora")] == ["supports", "does not support", "unsure"]
    assert all(j.seconds is not None and j.seconds > 0 for j in words_of(app, "Dora"))
    skipped = perspective
    page.keyboard.press("u")
    expect(progress).to_contain_text(f"3 of {total} pairs")
    expect(page.locator(".st-key-pair-card").get_by_role("heading")).to_have_text(skipped)
    page.keyboard.press("u")
    expect(progress).to_contain_text(f"2 of {total} pairs")
    assert [j.verdict for j in words_of(app, "Dora")] == ["supports", "does not support"]


def test_hasty_keys_judge_no_pair_twice_and_none_unseen(app: Served, page: Page) -> None:
    visit(page, f"{app.url}/annotate", "Ida")
    for number in range(10):
        page.keyboard.press("12"[number % 2], delay=20)
    page.wait_for_timeout(500)
    settled(page)
    mine = words_of(app, "Ida")
    expect(page.get_by_test_id("stProgress")).to_contain_text(f"{len(mine)} of")
    held = Judgments.open(Workspace.open(app.workspace).judgments_url)
    said = [event for j in mine for event in held.history(j.pair) if event["annotator"] == "Ida"]
    held.engine.dispose()
    assert len(said) == len(mine) >= 1


def test_the_card_and_the_scroll_stay_where_they_are(app: Served, page: Page) -> None:
    page.set_viewport_size({"width": 1200, "height": 600})
    visit(page, f"{app.url}/annotate", "Emil")
    main = page.get_by_test_id("stMain")
    main.evaluate("e => e.scrollTo(0, 120)")
    card = page.locator(".st-key-pair-card")
    place, top = card.bounding_box(), main.evaluate("e => e.scrollTop")
    assert top > 0, "the page must be long enough to jump"
    for number in range(1, 7):
        page.keyboard.press(str(number % 2 + 1))
        expect(page.get_by_test_id("stProgress")).to_contain_text(f"{number} of")
        settled(page)
        assert main.evaluate("e => e.scrollTop") == top
        assert card.bounding_box() == place


def test_a_comment_is_kept_and_typing_it_presses_no_key(app: Served, page: Page) -> None:
    visit(page, f"{app.url}/annotate", "Fay")
    box = page.get_by_label("Comment (stored with your next verdict)")
    box.click()
    box.press_sequentially("1 of 2 sides, x and u; 3 = maybe", delay=10)
    settled(page)
    expect(page.get_by_test_id("stProgress")).to_contain_text("0 of")
    assert words_of(app, "Fay") == []
    box.press("Enter")
    box.blur()
    settled(page)
    page.keyboard.press("1")
    expect(page.get_by_test_id("stProgress")).to_contain_text("1 of")
    (mine,) = words_of(app, "Fay")
    assert (mine.verdict, mine.comment) == ("supports", "1 of 2 sides, x and u; 3 = maybe")
    settled(page)
    expect(page.get_by_label("Comment (stored with your next verdict)")).to_have_value("")


def test_a_comment_still_in_the_box_goes_with_the_button(app: Served, page: Page) -> None:
    visit(page, f"{app.url}/annotate", "Gus")
    page.get_by_label("Comment (stored with your next verdict)").fill("seen twice")
    page.get_by_role("button", name="Unsure").click()
    expect(page.get_by_test_id("stProgress")).to_contain_text("1 of")
    (mine,) = words_of(app, "Gus")
    assert (mine.verdict, mine.comment) == ("unsure", "seen twice")


# Agreement and runs ---------------------------------------------------------------------------------------------------


def download(page: Page, name: str) -> bytes:
    with page.expect_download() as found:
        page.get_by_role("button", name=name, exact=True).click()
    return Path(found.value.path()).read_bytes()


def judged_by_a_person(app: Served, name: str) -> tuple[str, str]:
    """A pair that they say is supported and one that is not; of people, only the demo's made-up ones judged these before."""
    held = Judgments.open(Workspace.open(app.workspace).judgments_url)
    words = held.present()
    made_up = {word.pair for word in words} - {word.pair for word in words if not word.annotator.demo}
    yes, no = sorted(made_up)[:2]
    person = held.sign_in(name)
    held.judge(person, yes, "supports", source="annotate")
    held.judge(person, no, "does not support", source="annotate")
    held.engine.dispose()
    return yes, no


def test_agreement_shows_people_and_gives_real_files(app: Served, page: Page) -> None:
    yes, no = judged_by_a_person(app, "Kim")
    go(page, f"{app.url}/agreement")
    expect(page.get_by_test_id("stVegaLiteChart").first).to_be_visible()
    expect(page.get_by_text("disagree on")).to_be_visible()
    chart = page.get_by_test_id("stVegaLiteChart").first
    expect(chart.locator("svg, canvas").first).to_be_visible()
    judged = pd.read_csv(io.BytesIO(download(page, "Judgments.csv")))
    same = pd.read_parquet(io.BytesIO(download(page, "Judgments.parquet")))
    assert {"Noor", "Tomas"} <= set(judged["annotator"])
    assert judged["pair"].tolist() == same["pair"].tolist()
    statistics = pd.read_csv(io.BytesIO(download(page, "Agreement.csv")))
    noor_tomas = statistics[(statistics["a"] == "Noor") & (statistics["b"] == "Tomas")]
    assert noor_tomas["kappa"].between(0, 1).all()
    assert len(noor_tomas) == 1
    training = [json.loads(line) for line in download(page, "Training data.jsonl").decode().splitlines()]
    labels = {row["pair"]: row["label"] for row in training}
    assert (labels[yes], labels[no]) == (1, 0)
    people = judged[~judged["demo"].astype(bool)]
    assert labels.keys() <= set(people["pair"]), "the demo's made-up people are shown here, and teach no detector"
    again = pd.read_parquet(io.BytesIO(download(page, "Training data.parquet")))
    assert again["pair"].tolist() == [row["pair"] for row in training]


# Untrusted text -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hostile_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("hostile")
    workspace = Workspace.create(folder / "workspace")
    rows = [
        {"id": "<i>1</i>", "title": "<b>Uniforms</b> **t**", "text": HOSTILE, "url": "javascript:alert(4)"},
        {"id": "2", "title": "عنوان Uniforms", "text": RIGHT_TO_LEFT, "url": "https://example.com/a"},
    ]
    path = folder / "hostile.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    add_corpus(workspace, "hostile", path)
    views = (Perspective("<script>alert(5)</script> **uniforms** -> $good$", "supporting"), Perspective("=cmd|'x'!A1"))
    save_dataset(workspace, "hostile", [Question("q", "hostile", "Are <u>uniforms</u> **good** :smile: ?", views)])
    with served(workspace.folder, folder / "log") as server:
        yield server


def test_hostile_text_is_shown_to_the_letter_and_runs_nothing(hostile_app: Served, page: Page) -> None:
    """The page fixture fails on any dialog."""
    visit(page, f"{hostile_app.url}/explore", "<img src=x onerror=alert(6)>")
    main = page.get_by_test_id("stMain")
    text = shown_text(main)
    for literal in (
        HOSTILE,
        RIGHT_TO_LEFT,
        "<b>Uniforms</b> **t**",
        "Are <u>uniforms</u> **good** :smile: ?",
        "<script>alert(5)</script> **uniforms** -> $good$",
        "=cmd|'x'!A1",
    ):
        assert literal in text
    assert main.locator("script, img, u, i, .katex").count() == 0
    addresses = main.locator("a").evaluate_all("all => all.map(a => a.getAttribute('href'))")
    own = ("#", "passage?", "documentation?")
    assert {address for address in addresses if not address.startswith(own)} == {"https://example.com/a"}
    look_at_passages(page)
    page.keyboard.press("1")
    expect(page.get_by_text("P1 of “<b>Uniforms</b> **t**”:")).to_be_visible()
