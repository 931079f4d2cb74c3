"""Former names of commands and options, which keep working for one version and appear in no help.

A command line with a former name runs as if it had the present one, after one line on standard error that names the present one.
"""

from collections.abc import Sequence
from typing import Any

from berdseye.data.errors import BadInputError

COMMANDS = {
    "label-studio send": "label-studio push",
    "label-studio receive": "label-studio pull",
    "generated": "llm generated",
    "sides": "llm sides",
    "disputed": "llm disputed",
    "perspectives": "expansion",
}
"""Former to present names of commands, each with the groups before it."""

OPTIONS = {
    "batch create": {"--hold": "--reservation-minutes"},
    "detector improve": {"--set": "--training-set"},
    "detector train": {"--set": "--training-set"},
    "judgments doctor": {"--mend": "--fix"},
    "study": {"--form": "--format"},
    "study debateqa": {"--by": "--stratify-by", "--prompts": "--prompt"},
    "study debateqa-meta": {"--prompts": "--prompt"},
}
"""Former to present names of options, by the command, or by a group whose commands all have the option."""


def words_of(ctx: Any) -> tuple[str, ...]:
    """The words of the command line that lead to a command, without the program's name."""
    return () if ctx.parent is None else (*words_of(ctx.parent), str(ctx.info_name))


def present_words(words: Sequence[str]) -> tuple[str, ...]:
    """The words of a command line, such as a stored job's, with the present name in place of a command's former one."""
    for length in range(len(words), 0, -1):
        if (present := COMMANDS.get(" ".join(words[:length]))) is not None:
            return (*present.split(), *words[length:])
    return tuple(words)


def with_present_command(group: Sequence[str], args: list[str]) -> list[str]:
    """The arguments of a group, `args[0]` being the name of a command, with the present name in place of a former one."""
    former = " ".join((*group, *args[:1]))
    if former not in COMMANDS:
        return args
    present = COMMANDS[former]
    _note_new_name(f"`berdseye {former}`", f"`berdseye {present}`")
    return [*present.split()[len(group) :], *args[1:]]


def with_present_options(command: Sequence[str], args: list[str]) -> list[str]:
    """The arguments of a command with the present names in place of former ones.

    Raises `BadInputError` where an option is given under both names.
    """
    names = _options_of(command)
    if not names:
        return args
    end = args.index("--") if "--" in args else len(args)
    options = [arg.partition("=") for arg in args[:end]]
    for former in dict.fromkeys(name for name, _, _ in options if name in names):
        if any(name == names[former] for name, _, _ in options):
            raise BadInputError(f"{former} is the former name of {names[former]}.", hint=f"Omit {former}.")
        _note_new_name(former, names[former])
    return ["".join((names.get(name, name), sign, value)) for name, sign, value in options] + args[end:]


def _options_of(command: Sequence[str]) -> dict[str, str]:
    """Former to present names of the options of a command, by the words that call it."""
    return {
        former: present
        for length in range(1, len(command) + 1)
        for former, present in OPTIONS.get(" ".join(command[:length]), {}).items()
    }


def _note_new_name(former: str, present: str) -> None:
    from berdseye.app.commands.console import note

    note(f"{former} is now called {present}; the next version of Berdseye will not accept {former}.")
