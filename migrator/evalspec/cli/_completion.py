"""Completion scripts for shells, written from the parsers of the commands themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence


class Flag(NamedTuple):
    """A flag: its spellings, what follows it (empty: nothing), the words it takes (none: a file or free text)."""

    names: tuple[str, ...]
    value: str
    words: tuple[str, ...]
    help: str


class Command(NamedTuple):
    """A command, with the words that its arguments may be; none where they are files."""

    name: str
    help: str
    flags: tuple[Flag, ...]
    words: tuple[str, ...]


def read_commands() -> list[Command]:
    """Every command as its parser knows it."""
    from evalspec.cli import COMMANDS
    from evalspec.cli._run import build_parser, load_command

    found = []
    for name, help_ in COMMANDS.items():
        actions = build_parser(name, load_command(name)).all_actions()
        flags = tuple(_flag(action) for action in actions if action.option_strings)
        words = (word for action in actions if not action.option_strings for word in action.choices or ())
        found.append(Command(name, help_, flags, tuple(words)))
    return found


def _flag(action: argparse.Action) -> Flag:
    value = "" if action.nargs == 0 else str(action.metavar or action.dest.upper())
    return Flag(tuple(action.option_strings), value, tuple(action.choices or ()), action.help or "")


def completion(shell: str, commands: Sequence[Command]) -> str:
    """The script for `bash`, `zsh` or `fish`."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](commands)


def _quoted(text: str) -> str:
    """A word in single quotes, for bash and zsh."""
    return "'" + text.replace("'", "'\\''") + "'"


def _bash(commands: Sequence[Command]) -> str:
    values, flags, words = [], [], []
    for command in commands:
        for flag in command.flags:
            if flag.value:
                pattern = "|".join(f'"{command.name} {name}"' for name in flag.names)
                values.append(f"    {pattern}) {_reply(flag.words)} ;;\n")
        names = [name for flag in command.flags for name in flag.names if name.startswith("--")]
        flags.append(f"      {command.name}) {_reply(names)} ;;\n")
        if command.words:
            words.append(f"    {command.name}) {_reply(command.words)} ;;\n")
    first = [*(command.name for command in commands), "--help", "--version"]
    return (
        '# Completion of evalspec for bash: eval "$(evalspec completion bash)"\n'
        "_evalspec() {\n"
        '  local word="${COMP_WORDS[COMP_CWORD]}" command="${COMP_WORDS[1]}"\n'
        "  COMPREPLY=()\n"
        f'  if [ "$COMP_CWORD" -eq 1 ]; then {_reply(first)}; fi\n'
        '  case "$command ${COMP_WORDS[COMP_CWORD-1]}" in\n'
        f"{''.join(values)}  esac\n"
        '  case "$word" in\n    -*) case "$command" in\n'
        f"{''.join(flags)}    esac ;;\n  esac\n"
        f'  case "$command" in\n{"".join(words)}  esac\n'
        "}\n"
        "complete -o default -F _evalspec evalspec\n"
    )


def _reply(words: Iterable[str]) -> str:
    """What answers with `words`; with none the shell completes names of files."""
    listed = " ".join(words)
    if not listed:
        return "return"
    return f'COMPREPLY=($(compgen -W {_quoted(listed)} -- "$word")); return'


def _zsh(commands: Sequence[Command]) -> str:
    named = "".join(f"    {_quoted(f'{command.name}:{command.help}')}\n" for command in commands)
    cases = []
    for command in commands:
        specs = [_zsh_flag(flag) for flag in command.flags]
        words = f"({' '.join(command.words)})" if command.words else "_files"
        specs.append(_quoted(f"*: :{words}"))
        cases.append(
            f"    {command.name}) _arguments -S \\\n      {f' {chr(92)}{chr(10)}      '.join(specs)} ;;\n"
        )
    return (
        "#compdef evalspec\n"
        '# Completion of evalspec for zsh: eval "$(evalspec completion zsh)"\n'
        f"_evalspec() {{\n  local -a commands\n  commands=(\n{named}  )\n"
        "  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
        '  local command="$words[2]"\n  shift words\n  (( CURRENT-- ))\n'
        f'  case "$command" in\n{"".join(cases)}  esac\n}}\n'
        'if [[ "$funcstack[1]" == _evalspec ]]; then _evalspec "$@"; else compdef _evalspec evalspec; fi\n'
    )


def _zsh_flag(flag: Flag) -> str:
    help_ = flag.help.replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")
    value = ""
    if flag.value:
        words = f"({' '.join(flag.words)})" if flag.words else "_files"
        value = f":{flag.value.replace(':', ' ')}:{words}"
    if len(flag.names) == 1:
        return _quoted(f"{flag.names[0]}[{help_}]{value}")
    others = " ".join(flag.names)
    return f"{_quoted(f'({others})')}{{{','.join(flag.names)}}}{_quoted(f'[{help_}]{value}')}"


def _fish(commands: Sequence[Command]) -> str:
    lines = [
        "# Completion of evalspec for fish: evalspec completion fish | source\n",
        "complete -c evalspec -n __fish_use_subcommand -l help -d 'list the commands'\n",
        "complete -c evalspec -n __fish_use_subcommand -l version -d 'print the version'\n",
    ]
    for command in commands:
        lines.append(
            f"complete -c evalspec -n __fish_use_subcommand -f -a {command.name} -d {_fish_quoted(command.help)}\n"
        )
        seen = f"complete -c evalspec -n '__fish_seen_subcommand_from {command.name}'"
        for flag in command.flags:
            names = [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in flag.names]
            value = (
                f" -x -a {_fish_quoted(' '.join(flag.words))}" if flag.words else " -r" if flag.value else ""
            )
            lines.append(f"{seen} {' '.join(names)}{value} -d {_fish_quoted(flag.help)}\n")
        if command.words:
            lines.append(f"{seen} -f -a {_fish_quoted(' '.join(command.words))}\n")
    return "".join(lines)


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
