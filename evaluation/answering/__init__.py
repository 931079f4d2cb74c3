"""Language models answer questions, from what they know or from what retrieval shows them (DebateQA, sections 4 and 5.4).

It stands on this floor since it needs retrieval and language models below it, and studies beside it; it needs no labels.

From Python, with passages that are at hand already:

    from berdseye.evaluation.answering.asking import Asker, Sampling
    from berdseye.evaluation.answering.chunks import Chunk
    from berdseye.evaluation.answering.styles import STYLES

    asker = Asker(open_language_model("api(NAME)", workspace), CompletionCache(workspace),
                  style=STYLES["basic"], sampling=Sampling(max_tokens=512, temperature=0.0, seed=0))
    asker.answer(questions)                                    # list[Written], one for each question text
    asker.answer(questions, [[Chunk("a passage"), ...], ...])  # the same from the passages of each

`Written` holds the text, the chunks it was shown, those left out because the model's window was full, tokens and cost.
`strategies.plain`, `vanilla` and `react` find the chunks too; `running.answer_dataset` does so for a stored data set and
keeps the answers. Every completion is kept in the workspace as soon as it is written, so that a killed run goes on.
"""
