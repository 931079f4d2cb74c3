"""Every numbered table and figure of the four papers that Berdseye knows: what shows ours, which of its digits are transcribed,
how many of them public data determine, and how many recomputing hits. `page.py` writes docs/papers.md from this list; tests
recompute the counts.

BERDS has two versions; numbers without a version are those of the first, or of both.
"""

from typing import NamedTuple

from berdseye.evaluation.published import published

PAPERS = ("BERDS", "PIR", "DebateQA", "D-MERIT")
KEYS = frozenset({"k", "p_min", "p_max", "systems", "pool_depth", "printed_place"})
"""Columns of numbers that name a row and are no figures."""


class Counts(NamedTuple):
    """Of the `determined` printed numbers, those that recomputing gives to the last digit (`equal`), and those that the rounding
    of the inputs, or the order of equal scores, allows (`allowed`)."""

    determined: int
    equal: int
    allowed: int = 0

    @property
    def missed(self) -> int:
        """Printed numbers that nothing public gives."""
        return self.determined - self.equal - self.allowed

    def plus(self, other: "Counts") -> "Counts":
        return Counts(self.determined + other.determined, self.equal + other.equal, self.allowed + other.allowed)


NOTHING = Counts(0, 0)


class Printed(NamedTuple):
    """A numbered table or figure.

    `made_by` names what shows ours: commands without `berdseye`, or pages of the app as `page NAME`; empty if nothing does.
    `files` are tables of this folder, each with the condition that selects its rows (empty: all). `printed` counts what other
    printed digits determine, `released` what released data determine, `impossible` the cells (or rows) that no counts can give.
    `faults` has the arithmetic for what is missed; `lacking` names what the rest would require.
    """

    paper: str
    number: str
    shows: str
    made_by: tuple[str, ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    printed: Counts = NOTHING
    released: Counts = NOTHING
    impossible: int = 0
    faults: tuple[str, ...] = ()
    lacking: str = ""

    @property
    def name(self) -> str:
        return f"{self.paper} {self.number}"

    def figures(self) -> int:
        """Return how many numbers are transcribed."""
        cells = 0
        for name, condition in self.files:
            rows = published(name)
            rows = rows.query(condition) if condition else rows
            cells += int(rows.select_dtypes("number").drop(columns=list(KEYS), errors="ignore").notna().sum().sum())
        return cells


_NOT_TRANSCRIBED = "not transcribed here"
_PAPER_RUNS = "the runs and labels of the paper"
_ANSWERS = "the answers of the paper's models"
_PEOPLE = "the judgments of the paper's annotators"
_TASKS = "the full tasks; the released demo has 100 queries of each"
_DMERIT = "D-MERIT's evidence and runs, which are downloaded by hand"

LISTING: tuple[Printed, ...] = (
    Printed(
        "BERDS", "table 1", "questions, splits, perspectives and words",
        ("dataset describe", "construct dataset --dev-share"),
        (("berds_dataset", ""),), Counts(8, 6, 1), Counts(4, 4),
        faults=("The test sizes 750 + 882 + 774 are 2406, printed 2407; dev + test of all would then be 3209, printed 3208.",),
        lacking="the test questions",
    ),
    Printed(
        "BERDS", "table 2", "passages and documents of the corpora", ("corpus describe",), (("berds_corpora", ""),),
        lacking="the corpora",
    ),
    Printed(
        "BERDS", "table 3", "base retrievers, top 5", ("study berds base",), (("berds_base_k5", ""),), Counts(28, 28),
        impossible=8,
        faults=(
            "8 MRecall cells of the second version (TART and NV-Embed-v2 on Kialo and OpinionQA) are no fractions of 774 or "
            "882 questions. All are fractions of 750.",
        ),
        lacking=_PAPER_RUNS,
    ),
    Printed(
        "BERDS", "table 4", "reranking by MMR and query expansion (second version: table 5)", ("study berds diversity",),
        (("berds_diversity", ""),), Counts(16, 16), lacking=_PAPER_RUNS,
    ),
    Printed(
        "BERDS", "table 5", "passages until all perspectives are covered (second version: table 17)",
        ("study berds coverage",), (("berds_coverage", ""),), lacking=_PAPER_RUNS,
    ),
    Printed(
        "BERDS", "table 6", "what all retrievers find together", ("study berds union",), (("berds_union", ""),), Counts(3, 3),
        lacking=_PAPER_RUNS,
    ),
    Printed(
        "BERDS", "table 7", "detectors against people (second version: table 4)", ("detector table",),
        (("berds_detectors", ""),), impossible=8,
        faults=(
            "No 2x2 table of 542 pairs with 91 positive ones has the printed accuracy, F1 and percent positive of 8 of the 9 "
            "models. For example, Gemma's 58.4% positive is 317 (58.5) or 316 (58.3) of 542 pairs, neither of which is "
            "printed as 58.4. The figures may be averages over data sets.",
        ),
        lacking="the 542 judged pairs",
    ),
    Printed(
        "BERDS", "table 8", "lambda of MMR (second version: table 7)", ("study berds lambda", "tune"), (("berds_lambda", ""),),
        lacking="the paper's runs on dev questions",
    ),
    Printed(
        "BERDS", "tables 9 to 12", "how the questions and perspectives were written",
        ("construct arguana", "construct kialo", "construct opinionqa"), lacking=_NOT_TRANSCRIBED,
    ),
    Printed(
        "BERDS", "table 17", "base retrievers, top 10 (second version: table 16)", ("study berds base",),
        (("berds_base_k10", ""),), Counts(28, 28), impossible=11,
        faults=(
            "DPR on Sphere has 44.09 / 33.67 for Arguana, which is BM25's pair for OpinionQA: 252.5 of 750 questions would "
            "be 33.67%. The printed average includes the copied pair.",
            "10 MRecall cells of the second version (TART and NV-Embed-v2) are no fractions of 774 or 882 questions, as in "
            "table 3.",
        ),
        lacking=_PAPER_RUNS,
    ),
    Printed(
        "BERDS", "second version table 18", "the tuned detector by corpus and retriever", ("detector table --part domains",),
        (("berds_detector_ood", ""),), impossible=5,
        faults=(
            "For 5 of 8 rows, all of Sphere among them, no 2x2 table of 240 to 300 pairs has the printed accuracy, F1 and "
            "percent positive; 92.1% and 91.1% are no fractions of 300.",
        ),
        lacking="the labelled pairs",
    ),
    Printed(
        "BERDS", "second version table 19", "errors found in 20 questions of each data set",
        ("construct check", "construct outcome"), (("berds_quality", ""),),
        lacking="the inspected questions, and which row is which data set",
    ),
    Printed(
        "BERDS", "second version tables 20 and 21", "how the questions were written",
        ("construct opinionqa", "construct kialo"), lacking=_NOT_TRANSCRIBED,
    ),
    Printed(
        "BERDS", "figure 2", "one side, both sides, or neither", ("study berds leaning", "page bias"),
        lacking="a figure without printed numbers",
    ),
    Printed(
        "BERDS", "figure 3", "sycophancy", ("study berds sycophancy", "page bias"), lacking="a figure without printed numbers"
    ),
    Printed(
        "PIR", "table 1", "the six tasks", ("dataset fetch", "dataset reformat", "dataset describe"), (("pir_datasets", ""),),
        released=Counts(3, 3),
        faults=("The length of Perspectrum's queries is printed as '15.'; from the released data it is 15.07.",),
        lacking=_TASKS,
    ),
    Printed(
        "PIR", "table 2", "p-Recall@5 of retrievers", ("study pir --part retrievers", "study pir --variant released"),
        (("pir_precall5", ""),), Counts(6, 6), Counts(1, 0, 1),
        faults=(
            "BM25 on Perspectrum is 39.1 only with a fault of the released notebook. It collects the relevant passages of "
            "each root query in the list of the root's first query, without copying it, so that this query counts as "
            "answered by any passage of its root. With the notebook's lists (`--variant released`) p-Recall@5 is 38.9 to 39.4, "
            "depending on the order of equal scores: 39.4 in ours, 39.1 in that of numpy's heapsort, and in that of its default, "
            "which the notebook uses, a value that depends on the processor. By the paper's definition it is 33.8 to "
            "34.3. The other retrievers and tasks of tables 2, 4, 8 and 9 are probably too high for the same reason.",
        ),
        lacking=_TASKS,
    ),
    Printed(
        "PIR", "tables 3 and 10", "perspectives that root queries find", ("study pir --part bias", "page bias"),
        (("pir_bias", ""),),
        Counts(15, 10, 4), Counts(2, 0),
        faults=(
            "TART on Perspectrum: 55.6 + 51.9 is 107.5. The smallest counts that fit are 15 and 14 of 27, as if each stance "
            "were divided by the root queries that find anything, two of which find both stances.",
            "BM25 on Perspectrum (55.6 / 44.4) is not explained: the top 5 of 111 to 113 root queries hold a supporting and "
            "of 87 to 90 an opposing passage, and no such pair has the share 55.6. Over passages the share is 60 to 61.",
            "Instructor-large on AllSides lost one of its three numbers.",
        ),
        lacking=_TASKS,
    ),
    Printed(
        "PIR", "table 4", "projections, mean over tasks", ("study pir --part methods",), (("pir_methods", ""),), Counts(9, 9),
        lacking=_TASKS
    ),
    Printed(
        "PIR", "table 5", "answers and essays by retriever", ("study pir-downstream",), (("pir_downstream", ""),),
        lacking="the answers and essays of the paper's model",
    ),
    Printed(
        "PIR", "table 6", "perspectives named by a language model", ("study pir --part extraction",), (("pir_extraction", ""),),
        impossible=1,
        faults=("BM25 on AmbigQA: 21% is no share of 50 queries (10 are 20%, 11 are 22%).",),
        lacking="the replies of the paper's model",
    ),
    Printed(
        "PIR", "table 8", "projections by task", ("study pir --part methods",), (("pir_methods_by_task", ""),), Counts(17, 16, 1),
        faults=("PAP+: the tasks average 46.45, printed 46.4; their rounding allows both 46.4 and 46.5.",), lacking=_TASKS,
    ),
    Printed(
        "PIR", "table 9", "projections on other encoders", ("study pir --part backbones",), (("pir_backbones", ""),),
        Counts(8, 8), lacking=_TASKS
    ),
    Printed(
        "PIR", "figures 2, 4 and 5", "means over retrievers, and places of retrieved news", ("study pir --part places",),
        lacking="figures without transcribed numbers",
    ),
    Printed(
        "DebateQA", "table 2", "12 models by P.D. and D.A.", ("study debateqa",), (("debateqa_main", ""),), Counts(24, 23),
        faults=(
            "Claude 3.5 Sonnet and Qwen2 1.5B have the D.A. ranks 10, 9 and 9, 10, and so both 9.5 on average. Other equal "
            "means share a rank, but these are printed as 10 and 9.",
        ),
        lacking=f"{_ANSWERS}; the released answers (1,000, 334.4 words on average) do not name their model",
    ),
    Printed(
        "DebateQA", "table 3", "three system prompts", ("study debateqa --stratify-by style", "answer --style comprehensive"),
        (("debateqa_prompts", ""),),
        faults=("The source of the transcription is garbled: ten values are lost, and most others were assigned by inference.",),
        lacking=_ANSWERS,
    ),
    Printed(
        "DebateQA", "table 4", "retrieval-augmented answers",
        ("study debateqa --stratify-by strategy", "answer --strategy vanilla"),
        (("debateqa_rag", ""),), lacking=_ANSWERS,
    ),
    Printed(
        "DebateQA", "table 5", "trusted sites only", ("study debateqa --stratify-by trusted_only", "answer --trusted-only"),
        (("debateqa_rag_sources", ""),), lacking=_ANSWERS,
    ),
    Printed(
        "DebateQA", "table 6", "websites of the questions", ("construct report", "dataset describe"),
        (("debateqa_sources", "level == 'website'"),), Counts(1, 1),
        lacking="the sources of the questions",
    ),
    Printed(
        "DebateQA", "table 7", "origins of the questions", ("construct show", "construct report", "dataset describe"),
        (("debateqa_sources", "level == 'origin'"),), Counts(2, 2),
        lacking="the sources of the questions",
    ),
    Printed("DebateQA", "tables 8 and 9", "how the data were curated", ("construct debateqa",), lacking=_NOT_TRANSCRIBED),
    Printed(
        "DebateQA", "table 11", "answers with views that the data lack", ("construct missing-views",),
        (("debateqa_missing_views", ""),),
        lacking="all its shares but the lowest and the highest",
    ),
    Printed("DebateQA", "table 12", "the wraps of P.D.", ("study debateqa-stability --wraps",), lacking=_NOT_TRANSCRIBED),
    Printed(
        "DebateQA", "table 14", "measures against preferences of people", ("study debateqa-meta",),
        (("debateqa_pd_alignment", ""),), lacking=_PEOPLE,
    ),
    Printed(
        "DebateQA", "table 15", "D.A. against labels of people", ("study debateqa-meta",), (("debateqa_da_accuracy", ""),),
        Counts(14, 10, 2),
        faults=(
            "Accuracy and F1 of 500 responses determine AUROC and MCC if the number of disputed ones is known; 380 fits six "
            "of the seven rows. For zero-shot D.A., accuracy .530 means 235 wrong replies, and F1 .434 then means 90 hits, "
            "so that 290 of 380 would be missed: more than the 235 wrong replies. It was scored on other labels.",
        ),
        lacking=_PEOPLE,
    ),
    Printed(
        "DebateQA", "figure 2", "P.D. and D.A. of the models", ("study debateqa",), lacking="its numbers are those of table 2"
    ),
    Printed(
        "DebateQA", "figure 3", "weighted ranks", ("study debateqa",), (("debateqa_weighted_rank", ""),), Counts(60, 60)
    ),
    Printed("DebateQA", "figures 4 to 7", "how the data were curated", ("construct report",), lacking=_NOT_TRANSCRIBED),
    Printed(
        "DebateQA", "figures 8 and 11", "agreement of annotators", ("study debateqa-meta",), lacking=_NOT_TRANSCRIBED
    ),
    Printed(
        "DebateQA", "figures 12 to 14", "temperature, top-p and length of answers", ("study debateqa-sweep",),
        lacking=_NOT_TRANSCRIBED,
    ),
    Printed(
        "D-MERIT", "table 2", "evidence by number of members", ("construct figures", "dataset describe"),
        (("dmerit_distribution", ""),),
        Counts(2, 1, 1),
        faults=(
            "The buckets 51-100 and 100+ both contain 100. Their evidence sums to 60,264, at most 60,324 before rounding, "
            "where section 2.6 has 60,333.",
        ),
        lacking=_DMERIT,
    ),
    Printed(
        "D-MERIT", "table 3", "one annotated passage per query, k = 20", ("study dmerit --part selection",),
        faults=(
            "Most popular and shortest: .696 / 15.10 there, .697 / 15.15 in table 9. The formula gives 100 (1 - .696) / 2 = "
            "15.20.",
        ),
        lacking="transcribed as the rows k = 20 of table 9, from which it differs as stated",
    ),
    Printed(
        "D-MERIT", "table 4", "pairs of systems by p-value, k = 20", ("study dmerit --part significance",),
        faults=("Error rate 33.3 there, 33.35 in table 8, for the tau .333; the formula gives 33.35.",),
        lacking="transcribed as the rows k = 20 of table 8, from which it differs as stated",
    ),
    Printed(
        "D-MERIT", "table 5", "all systems with all evidence", ("study dmerit --part systems",), (("dmerit_systems", ""),),
        lacking=_DMERIT,
    ),
    Printed(
        "D-MERIT", "table 6", "how the data were collected", ("construct dmerit", "construct show"),
        lacking=_NOT_TRANSCRIBED,
    ),
    Printed(
        "D-MERIT", "table 7", "concordance by p-value", ("study dmerit --part significance",), (("dmerit_concordance", ""),),
        lacking=f"{_DMERIT}; tau does not determine concordance, which also depends on p-values under the partial labels",
    ),
    Printed(
        "D-MERIT", "table 8", "partial tau and error rate", ("study dmerit --part significance",), (("dmerit_partial_tau", ""),),
        Counts(12, 12), lacking=_DMERIT,
    ),
    Printed(
        "D-MERIT", "table 9", "tau and error rate by selection", ("study dmerit --part selection",),
        (("dmerit_single_relevant", ""),),
        Counts(20, 19),
        faults=("System-based, k = 5: 100 (1 - .587) / 2 = 20.65, printed 80.65.",),
        lacking=_DMERIT,
    ),
    Printed(
        "D-MERIT", "sections 2.3 to 2.6", "the audit, and the size of the data",
        ("study dmerit --part coverage", "construct figures"),
        (("dmerit_coverage", ""),), Counts(10, 6),
        faults=(
            "Evidence per query: 60,333 / 1,196 = 50.446, printed 50.44 (cut, not rounded).",
            "Agreement with GPT-4: 1,300 - 141 - 57 = 1,102 of 1,300 = 84.77%, printed 84.7 (cut).",
            "Positives: 990 / 3,206 = 30.9%, printed as about 30%.",
            "Coverage: 990 / (990 + 60) = 94.3%, printed 94.5.",
        ),
        lacking=_DMERIT,
    ),
    Printed(
        "D-MERIT", "figures 2 to 4, 8 and 9", "tau by share of annotated passages, and by selection",
        ("study dmerit --part selection", "study dmerit --part significance"),
        lacking="figures without printed numbers",
    ),
    Printed(
        "D-MERIT", "figures 5 to 7", "coverage of the pool", ("study dmerit --part coverage", "construct figures"),
        lacking="figures without printed numbers"
    ),
    Printed("D-MERIT", "figure 10", "how the data were collected", ("construct dmerit",), lacking=_NOT_TRANSCRIBED),
)  # fmt: skip
