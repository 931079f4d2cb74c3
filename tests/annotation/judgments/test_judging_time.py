"""The time that people took over pairs."""

from berdseye.annotation.judgments.log import Judgments, PairRecord
from berdseye.annotation.judgments.pace import Activity, activity_by_person, seconds_a_judgment, seconds_by_pair
from berdseye.data.workspace import Workspace


def test_all_time_on_a_pair_counts_whatever_became_of_the_word(workspace: Workspace) -> None:
    judgments = Judgments.open(workspace.judgments_url)
    texts = ("Cats purr.", "Cats bite.", "Cats sleep.")
    keys = judgments.add_pairs([PairRecord("d", "q", "Cats?", "Cats are good.", None, "c", "", t) for t in texts])
    ana, bo = judgments.sign_in("Ana"), judgments.sign_in("Bo")
    assert seconds_by_pair(judgments) == {}
    judgments.judge(ana, keys[0], "supports", source="annotate", seconds=4.0)
    judgments.judge(ana, keys[0], "does not support", source="annotate", seconds=2.5)
    judgments.judge(bo, keys[0], "supports", source="annotate", seconds=10.0)
    judgments.judge(bo, keys[1], "supports", source="annotate", seconds=1.0)
    judgments.undo(bo)
    judgments.judge(bo, keys[2], "supports", source="explore")
    assert seconds_by_pair(judgments) == {keys[0]: 16.5, keys[1]: 1.0}


def test_the_mean_is_of_timed_judgments_of_a_kind_on_annotate(workspace: Workspace) -> None:
    judgments = Judgments.open(workspace.judgments_url)
    (key,) = judgments.add_pairs([PairRecord("d", "q", "Cats?", "Cats are good.", None, "c", "", "Cats purr.")])
    ana = judgments.sign_in("Ana")
    assert seconds_a_judgment(judgments) is None
    judgments.judge(ana, key, "supports", source="annotate", seconds=4.0)
    judgments.judge(ana, key, "does not support", source="annotate", seconds=2.0)
    judgments.judge(ana, key, "supports", source="explore", seconds=100.0)
    judgments.judge(ana, key, "supports", source="annotate")
    assert seconds_a_judgment(judgments) == 3.0
    assert seconds_a_judgment(judgments, "prefer") is None


def test_activity_counts_judgments_in_force_and_the_last_of_them(workspace: Workspace) -> None:
    judgments = Judgments.open(workspace.judgments_url)
    texts = ("Cats purr.", "Cats bite.")
    keys = judgments.add_pairs([PairRecord("d", "q", "Cats?", "Cats are good.", None, "c", "", t) for t in texts])
    ana, bo = judgments.sign_in("Ana"), judgments.sign_in("Bo")
    days = [f"2026-03-0{day}T10:00:00.000000+00:00" for day in (1, 2, 3)]
    judgments.judge(ana, keys[0], "supports", source="annotate", at=days[0])
    judgments.judge(ana, keys[0], "does not support", source="annotate", at=days[1])
    judgments.judge(ana, keys[1], "supports", source="annotate", at=days[2])
    judgments.judge(bo, keys[0], "supports", source="annotate", at=days[0])
    judgments.undo(bo)
    assert activity_by_person(judgments) == {ana.id: Activity(2, days[2])}
