"""Answering of questions by language models, from their own knowledge or from retrieved passages (DebateQA, sections 4 and 5.4).

The package is part of evaluation because it needs retrieval and language models, and studies use it; it needs no labels.

From Python, with passages that are already available:

    from berdseye.evaluation.answering.asking import Asker, Sampling
    from berdseye.evaluation.answering.chunks import Chunk
    from berdseye.evaluation.answering.styles import STYLES

    asker = Asker(open_language_model("api(NAME)", workspace), CompletionCache(workspace),
                  style=STYLES["basic"], sampling=Sampling(max_tokens=512, temperature=0.0, seed=0))
    asker.answer(questions)                                    # list[Written], one for each question text
    asker.answer(questions, [[Chunk("a passage"), ...], ...])  # the same from the passages of each

`Written` holds the text, the chunks that the model read, those left out because the model's window was full, tokens and cost.
`strategies.plain`, `vanilla` and `react` also retrieve the chunks; `running.answer_dataset` does so for a stored data set and
stores the answers. Every completion is stored in the workspace as soon as it is written, so re-running a killed run resumes.
"""
