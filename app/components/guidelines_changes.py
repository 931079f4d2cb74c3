"""The differences between two versions of the guidelines, as annotators and those who edit them see them."""

from difflib import ndiff

from berdseye.app.components.plain_text import escaped


def differences(before: str, after: str) -> str:
    """Return Markdown with the differences by paragraph: removed text struck through, added text on a coloured
    background."""
    lines = []
    old, new = ([line for line in text.splitlines() if line.strip()] for text in (before, after))
    for line in ndiff(old, new):
        kind, text = line[:2], escaped(line[2:].strip())
        if kind == "- ":
            lines.append(f":red[~~{text}~~]")
        elif kind == "+ ":
            lines.append(f":green-background[{text}]")
        elif kind == "  ":
            lines.append(text)
    return "\n\n".join(lines)
