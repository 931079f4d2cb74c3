"""The creation of batches as jobs: a detector that labels many pairs first takes too long for a page."""

from berdseye.app.jobs.running import Job
from berdseye.evaluation.selection.request import QUESTION_PRESETS, BatchRequest


def creates_batch(job: Job) -> bool:
    """Whether a job creates a batch."""
    return job.arguments[:2] == ("batch", "create")


def batch_title(job: Job) -> str:
    """Return the title of a job that creates a batch."""
    return f"Creation of the batch {job.arguments[2]}"


def fits_job(request: BatchRequest) -> bool:
    """Whether a command can create this batch. It cannot read the text of guidelines, nor a file that a page received."""
    return request.file is None and request.answers is None and request.guidelines is None


def create_arguments(request: BatchRequest) -> tuple[str, ...]:
    """Return the arguments of the command that creates this batch, which `fits_job`. Options with their usual value, and those
    without an effect, are omitted."""
    values = ["batch", "create", request.name]
    for run in request.runs:
        values += ["--run", run]
    if request.runs:
        values += ["--k", str(request.k)]
    if request.decide:
        values += ["--decide", *request.decide, "--measure", request.measure]
    elif request.order != "batch":
        values += ["--order", request.order]
    if request.drawn_by:
        values += ["--draw-by", request.drawn_by]
    if request.preset:
        values += ["--preset", request.preset]
    if request.preset in QUESTION_PRESETS:
        values += ["--questions", str(request.questions)]
    if request.task != "judge":
        values += ["--task", request.task]
    for batch in request.without:
        values += ["--without-batch", batch]
    if request.sample is not None:
        values += ["--sample", str(request.sample), *(("--by", ",".join(request.strata)) if request.strata else ())]
    for person in request.people:
        values += ["--person", person]
    for option, value in (
        ("--per-pair", request.per_pair),
        ("--calibration", request.calibration),
        ("--seed", request.seed),
        ("--reservation-minutes", max(1, request.reservation_seconds // 60)),
    ):
        values += [option, str(value)]
    if request.detector:
        values += ["--detector", request.detector]
    if request.experiment is not None:
        values += ["--experiment", str(request.experiment)]
    elif request.shown:
        values += ["--shown"]
    return tuple(values)
