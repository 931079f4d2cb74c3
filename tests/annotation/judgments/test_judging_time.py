"""The time that people took over pairs."""

from berdseye.annotation.judgments.log import Judgments, PairRecord
from berdseye.annotation.judgments.pace import seconds_by_pair
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
