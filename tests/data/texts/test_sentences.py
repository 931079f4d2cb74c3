"""Where sentences end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berdseye.data.texts.chunkers import sentence_spans, split_sentences


@given(
    st.text(max_size=300)
    | st.lists(st.sampled_from(["Mr.", "A.", "b.", "3.5", "etc.", "“Yes!”", "no", "。", "…"])).map(" ".join)
)
def test_joined_they_are_the_words_again(text: str) -> None:
    sentences = split_sentences(text)
    assert " ".join(sentences).split() == text.replace("。", "。 ").split() or "。" in text
    assert "".join("".join(sentences).split()) == "".join(text.split())
    assert all(s == s.strip() and s for s in sentences)


@pytest.mark.parametrize(
    "text",
    [
        "It is late.| We should go!| Should we?| Yes.",
        "Dr. Smith and Mrs. Jones met Prof. Lee in St. Paul.| They talked.",
        "J. R. R. Tolkien wrote it.| C.S. Lewis did not.",
        "It costs $3.50, up 0.5 percent.| Version 2.0.1 is free.",
        "The U.S. economy grew in Jan. 2020 and fell in Feb. of that year.",
        "See Fig. 3 and pp. 4-7, e.g. the slope, i.e. its sign.| That is all.",
        "Smith et al. (2010) found it, cf. Lee vs. Kim.| They were right.",
        "In Board of Education v. LaFleur, teachers won.| Others lost.",
        "He works for Acme Inc.| She works for Foo Ltd.| They met.",
        "It ended at 5 p.m.| The crowd left at 6 p.m. on foot.",
        "“Stop!” he said.| “Why?” she asked. |(Nobody knew.)| Then silence.",
        "Well... maybe.| Go to www.example.com now.| Read a.txt first.",
        "So was I.| And so were you.",
        "这是一句。|这是另一句！|第三句？",
        "No full stop at the end",
    ],
)
def test_sentences_end_where_readers_end_them(text: str) -> None:
    assert split_sentences(text.replace("|", "")) == [part.strip() for part in text.split("|")]


def test_a_sentence_is_at_its_span() -> None:
    text = "  One 𝒳 is. Two!\n\nThree?  "
    assert [text[start:end] for start, end in sentence_spans(text)] == ["One 𝒳 is.", "Two!", "Three?"]


def test_nothing_gives_no_sentence() -> None:
    assert split_sentences("") == split_sentences("  ") == []
