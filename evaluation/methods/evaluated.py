"""What the workspace knows about its evaluation: runs, measures, the source of labels and its detector, and tests."""

from collections.abc import Sequence

import pandas as pd

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.corpora import open_corpus
from berdseye.data.datasets.stored import GOLD
from berdseye.data.labels import LabelStore
from berdseye.data.runs.stored import RunManifest, list_runs, load_run
from berdseye.data.texts.counts import counted
from berdseye.data.workspace import Workspace
from berdseye.detectors.protocol import Detector
from berdseye.detectors.thresholds import Tuned
from berdseye.evaluation.agreement.against_people import against_people
from berdseye.evaluation.agreement.alignment import AGAINST, SUPPORTS, Rule, aligned
from berdseye.evaluation.agreement.alignment import counted as counting
from berdseye.evaluation.agreement.labels import DETECTOR, stored_labels
from berdseye.evaluation.labels.consensus import CONSENSUS
from berdseye.evaluation.labels.labelled_runs import labelled_run
from berdseye.evaluation.labels.sources import DERIVED, HUMAN, LabelSource, source_grade
from berdseye.evaluation.measures import Measure
from berdseye.evaluation.methods.wording import Section, figure, listed
from berdseye.evaluation.scores.enough_judged import min_judged_of
from berdseye.evaluation.scores.unjudged import Unjudged, unjudged_of
from berdseye.evaluation.statistics.significance import TEST_NAMES, Test
from berdseye.evaluation.studies.result import list_results, load_result

_PARTS = {
    HUMAN: "people's labels (the adjudicated label, otherwise the majority of those who are sure)",
    GOLD: "gold labels of the data sets",
    DERIVED: "labels derived from those of perspectives that an edit replaced",
}
_TESTED = ("test", "correction", "labels", "measure", "measures", "seed")


def evaluation_section(
    workspace: Workspace,
    judgments: Judgments,
    source: LabelSource,
    measures: Sequence[Measure],
    test: Test,
    correction: str,
) -> Section:
    """Return the sentences and the facts about the stored runs, as they are evaluated with these choices."""
    section = Section("Evaluation")
    runs = list_runs(workspace)
    if not runs:
        section.say("The workspace has no run.")
        return section
    _say_runs(section, workspace, runs)
    section.say(f"They were evaluated by {listed(measures)}.")
    section.fact("measures", ", ".join(map(str, measures)))
    _say_labels(section, workspace, judgments, source)
    _say_people_share(section, workspace, judgments, runs, measures)
    floor, rule = min_judged_of(workspace), unjudged_of(workspace)
    section.fact("least share of labelled pairs for a value", f"{floor:.0%}")
    section.fact(
        "questions without a label in a run's top k", "count as 0" if rule is Unjudged.ZERO else "are left out"
    )
    section.say(
        "Intervals are 95% intervals over questions. Pairs without a label count as not supporting; a value over fewer than "
        f"{floor:.0%} labelled pairs is not reported."
    )
    if len({(run.corpus, run.pipeline) for run in runs}) > 1:
        if source.corrected:
            section.say(f"Corrected means of systems were compared in pairs, with {_correction(correction)}.")
        else:
            section.say(
                f"Systems were compared in pairs by {TEST_NAMES[test]} over questions, with {_correction(correction)}."
            )
            section.fact("test of differences", TEST_NAMES[test])
        section.fact("correction for the number of comparisons", correction)
    for name in list_results(workspace)[::-1]:
        result = load_result(workspace, name)
        stated = "; ".join(f"{key} {result.settings[key]}" for key in _TESTED if key in result.settings)
        section.fact(f"study {name}", stated or result.study)
    return section


def _say_runs(section: Section, workspace: Workspace, runs: Sequence[RunManifest]) -> None:
    questions = {run.dataset: run.questions for run in runs}
    corpora = {name: open_corpus(workspace, name).manifest for name in dict.fromkeys(run.corpus for run in runs)}
    datasets = [f"{name} ({counted(number, 'question')})" for name, number in questions.items()]
    passages = [f"{name} ({counted(m.count, 'passage')})" if m.count else name for name, m in corpora.items()]
    pipelines = list(dict.fromkeys(run.pipeline for run in runs))
    section.say(
        f"{counted(len(runs), 'run')} of {counted(len(pipelines), 'pipeline')} ({listed(pipelines)}) on {listed(datasets)} over "
        f"{listed(passages)} are stored."
    )
    section.fact("pipelines", ", ".join(pipelines))
    section.fact("data sets", ", ".join(datasets))
    section.fact("corpora", ", ".join(passages))
    section.fact("depth of the runs", listed(sorted({run.k for run in runs})))


def _say_labels(section: Section, workspace: Workspace, judgments: Judgments, source: LabelSource) -> None:
    detector = source.plain.detector(workspace)
    named = [
        f"the consensus of the annotators ({part[len(CONSENSUS) + 1 : -1]})"
        if part.startswith(f"{CONSENSUS}(")
        else _PARTS.get(part, f"labels of the detector {part}")
        for part in source.parts
    ]
    if source.corrected:
        detectors = "detectors" if source.further else "detector"
        section.say(
            f"The mean of the labels of the {detectors} {listed(source.parts)} was corrected with the questions that a "
            "batch drew at random and people judged completely."
        )
    else:
        section.say(f"Labels are {'; where there are none, '.join(named)}.")
    section.fact("label source", str(source))
    if detector is None:
        return
    grade = source_grade(workspace, source.plain)
    section.say(
        f"The detector {detector.name} has version {detector.version}, the threshold {detector.threshold:g} and the grade "
        f"'{grade}'."
    )
    section.fact("detector", f"{detector.name}, version {detector.version}")
    section.fact("grade of the detector", grade)
    section.fact(
        "threshold of the detector", f"{detector.threshold:g}{', tuned' if isinstance(detector, Tuned) else ''}"
    )
    _say_detection(section, workspace, judgments, detector)


def _say_detection(section: Section, workspace: Workspace, judgments: Judgments, detector: Detector) -> None:
    """State the agreement of the detector with people, over the judged pairs that it has labelled already."""
    people = counting(stored_labels(judgments, demo=False), Rule()).labels[["item", "annotator", "label"]]
    items = people["item"].unique().tolist()
    chances = pd.Series(LabelStore(workspace).get(detector.name, items, detector.version), index=items).dropna()
    if chances.empty:
        return
    names = tuple(people["annotator"].unique())
    machine = pd.DataFrame(
        {
            "item": chances.index,
            "annotator": f"{DETECTOR}{detector.name}",
            "label": [SUPPORTS if chance >= detector.threshold else AGAINST for chance in chances],
        }
    )
    both = aligned(pd.concat([people, machine]), (AGAINST, SUPPORTS))
    table = against_people(both, names, each=False, published=False)
    row = table[table["rater"] == f"{DETECTOR}{detector.name}"].iloc[0].to_dict()
    kappa, f1 = (figure(row[n], row[f"{n}_low"], row[f"{n}_high"], d) for n, d in (("kappa", 3), ("f1", 1)))
    section.say(f"Against single annotators, its kappa is {kappa} and its F1 {f1} percent over {row['n']:,} pairs.")
    section.fact("kappa of the detector with an annotator", kappa)
    section.fact("F1 of the detector against an annotator, percent", f1)


def _say_people_share(
    section: Section,
    workspace: Workspace,
    judgments: Judgments,
    runs: Sequence[RunManifest],
    measures: Sequence[Measure],
) -> None:
    k = min(max(measure.k for measure in measures), max(run.k for run in runs))
    shares = []
    for run in runs:
        by_people = labelled_run(workspace, judgments, load_run(workspace, run.name), LabelSource((HUMAN,)), k)
        shares.append(by_people.support.judged_at(k))
    span = (
        f"{min(shares):.0%}"
        if round(min(shares), 2) == round(max(shares), 2)
        else f"{min(shares):.0%} to {max(shares):.0%}"
    )
    made_up = int(stored_labels(judgments)["demo"].sum())
    among = f", among them {counted(made_up, 'judgment')} of simulated annotators" if made_up else ""
    section.say(f"Judgments{among}{',' if among else ''} cover {span} of the pairs in the top {k} of a run.")
    section.fact(f"pairs of the top {k} with a judgment, by run", span)
    if made_up:
        section.fact("judgments of simulated annotators", f"{made_up:,}, which the source {HUMAN} counts")


def _correction(correction: str) -> str:
    return "no correction" if correction == "none" else f"the correction '{correction}' for the number of comparisons"
