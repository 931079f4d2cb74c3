"""What the workspace knows about its annotation: who judged what, by which guidelines, and how well people agree."""

from collections.abc import Iterator

import pandas as pd

from berdseye.annotation.batches.stored import Batch, batch_pairs, list_batches
from berdseye.annotation.judgments.adjudication import decisions
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.texts.counts import counted, plural
from berdseye.evaluation.agreement.alignment import SKIPPED, UNSURE
from berdseye.evaluation.agreement.labels import adjudicated, stored_labels
from berdseye.evaluation.agreement.report import AgreementReport, Choices, report
from berdseye.evaluation.methods.wording import Section, figure, listed

_AGREEMENT = ("raw agreement", "Fleiss' kappa", "Krippendorff's alpha")


def annotation_section(judgments: Judgments) -> Section:
    """Return the sentences and the facts about people's present judgments; simulated annotators are left out."""
    labels = stored_labels(judgments, demo=False)
    section = Section("Annotation")
    if labels.empty:
        section.say("No person has judged a pair.")
        return section
    judged = labels[labels["label"] != SKIPPED]
    _say_who(section, labels, judged)
    _say_guidelines(section, judged)
    _say_what_was_seen(section, judged)
    _say_agreement(section, report(labels, Choices(), adjudicated(judgments)))
    settled = decisions(judgments, judged["item"].unique().tolist())
    if settled:
        people = counted(len({decision.by for decision in settled.values()}), "adjudicator")
        section.say(f"{people} settled the label of {counted(len(settled), 'pair')}.")
        section.fact("adjudicated pairs", f"{len(settled):,}")
    for batch in list_batches(judgments)[::-1]:
        section.fact(f"batch {batch.name}", "; ".join(_batch_facts(judgments, batch)))
    return section


def _say_who(section: Section, labels: pd.DataFrame, judged: pd.DataFrame) -> None:
    each = judged.groupby("annotator").size()
    per_pair = judged.groupby("item").size()
    days = pd.to_datetime(judged["at"].dropna(), utc=True, format="ISO8601").dt.date
    unsure, skipped = int((judged["label"] == UNSURE).sum()), int((labels["label"] == SKIPPED).sum())
    questions = judged.drop_duplicates(["dataset", "question_id"])
    section.say(
        f"{counted(len(each), 'annotator')} gave {counted(len(judged), 'judgment')} of {counted(len(per_pair), 'pair')} of a "
        f"passage and a perspective, from {counted(len(questions), 'question')} of {listed(judged['dataset'].unique())} over "
        f"{listed(judged['corpus'].unique())}."
    )
    several = int((per_pair > 1).sum())
    section.say(f"Two or more annotators judged {several:,} of these pairs.")
    section.fact("annotators", f"{len(each):,}")
    section.fact("judgments", f"{len(judged):,}")
    section.fact("judgments per annotator", f"{each.min():,} to {each.max():,} (median {each.median():g})")
    section.fact("pairs", f"{len(per_pair):,}")
    section.fact("pairs with two or more annotators", f"{several:,}")
    section.fact("questions", f"{len(questions):,}")
    section.fact("data sets", listed(judged["dataset"].unique()))
    section.fact("corpora", listed(judged["corpus"].unique()))
    if len(days):
        first, last = days.min(), days.max()
        when = f"on {first}" if first == last else f"between {first} and {last}"
        section.say(f"The judgments were given {when}.")
        section.fact("first and last day", f"{first} to {last}")
    if unsure or skipped:
        section.say(
            f"{counted(unsure, 'judgment')} {plural(unsure, 'was', 'were')} 'unsure', and "
            f"pairs were skipped {counted(skipped, 'time')}."
        )
    section.fact("unsure", f"{unsure:,}")
    section.fact("skipped", f"{skipped:,}")


def _say_guidelines(section: Section, judged: pd.DataFrame) -> None:
    versions = judged["guidelines"].dropna().value_counts()
    parts = [f"{version} ({counted(number, 'judgment')})" for version, number in versions.items()]
    if parts:
        section.say(f"They followed the guidelines of version {listed(parts)}.")
    unknown = int(judged["guidelines"].isna().sum())
    if unknown:
        section.say(f"For {counted(unknown, 'judgment')} the version of the guidelines is not recorded.")
        parts.append(f"not recorded ({counted(unknown, 'judgment')})")
    section.fact("guidelines", "; ".join(parts))


def _say_what_was_seen(section: Section, judged: pd.DataFrame) -> None:
    shown = judged["shown"].dropna().astype(bool)
    if shown.empty:
        return
    section.say(
        f"A detector's label was visible during {int(shown.sum()):,} of the {counted(len(shown), 'judgment')} for which this is "
        "recorded."
    )
    section.fact("judged with a detector's label visible", f"{int(shown.sum()):,} of {len(shown):,}")


def _say_agreement(section: Section, found: AgreementReport) -> None:
    table = found.parts["together"]
    table = table[table["value"].notna() & table["statistic"].isin(_AGREEMENT)] if len(table) else table
    for row in table.to_dict("records"):
        shown = f"{figure(row['value'], row['low'], row['high'], 3)}, n = {row['n']:,}"
        section.fact(str(row["statistic"]), f"{shown}; {row['interval']}")
    alpha = table[table["statistic"] == _AGREEMENT[-1]]
    if len(alpha):
        row = alpha.iloc[0].to_dict()
        section.say(
            f"Krippendorff's alpha among the annotators is {figure(row['value'], row['low'], row['high'], 3)} over "
            f"{counted(int(row['n']), 'pair')} (95% interval: {row['interval']}); {found.choices.rule}."
        )


def _batch_facts(judgments: Judgments, batch: Batch) -> Iterator[str]:
    yield f"task {batch.task}"
    yield counted(len(batch_pairs(judgments, batch)), "pair")
    yield f"{counted(batch.per_pair, 'annotator')} per pair"
    yield f"order by {batch.order}"
    if batch.recipe.get("preset"):
        yield f"drawn as {batch.recipe['preset']}"
    if batch.calibration:
        yield f"{counted(batch.calibration, 'calibration pair')}"
    yield f"seed {batch.seed}"
