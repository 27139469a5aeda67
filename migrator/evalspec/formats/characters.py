"""Characters that do not show, or look like others: how they are made visible, and what they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.errors import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

_MARKS = {" ": "·", "\t": "→", "\n": "⏎", "\r": "␍", "\u00a0": "⍽", "\u202f": "⍽"}
#: Characters that our own marks are made of: in a text they are shown by number, so that a mark is always a mark.
_OURS = frozenset("·→⏎␍⍽⟦⟧")

#: Letters and signs that are drawn like an ASCII one; compatibility forms (full width, mathematical) are computed.
_ALIKE = {
    **dict(zip("АВЕЅІЈКМНОРСТУХаеорсухіјѕԁһԛԝ", "ABESIJKMHOPCTYXaeopcyxijsdhqw", strict=True)),  # Cyrillic
    **dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧονρ", "ABEZHIKMNOPTYXovp", strict=True)),  # Greek
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58", "-"),
    **dict.fromkeys("\u2018\u2019\u201b\u2032\u02b9\u02bc\u00b4\u055a", "'"),
    **dict.fromkeys("\u201c\u201d\u201f\u2033\u02ba\u3003", '"'),
    **dict.fromkeys("\u02d0\u0589\u05c3\u2236\ua789\ufe30", ":"),
    **dict.fromkeys("\u2044\u2215\u29f8", "/"),
    **dict.fromkeys("\u201a\u060c\u066b", ","),
    **dict.fromkeys("\u06d4\u0660\u2024", "."),
    **dict.fromkeys("\u01c0\u2223\u2502\u05c0", "|"),
    **dict.fromkeys("\u02c2\u2039\u276e", "<"),
    **dict.fromkeys("\u02c3\u203a\u276f", ">"),
    **dict.fromkeys("\u2217\u204e\u066d", "*"),
    **dict.fromkeys("\u2216\u29f5\u29f9", "\\"),
    "\u02cb": "`",
    "\u223c": "~",
    "\u02dc": "~",
    "\u02c6": "^",
    "\u01c3": "!",
    "\u0131": "i",
}

_JOINING = (
    ("\u0300", "\u036f"),
    ("\u1ab0", "\u1aff"),
    ("\u1dc0", "\u1dff"),
    ("\u20d0", "\u20ff"),
    ("\ufe00", "\ufe0f"),
)


def with_marks(text: str) -> str:
    """`text` in one line: white space as `·` `→` `⏎` `␍` `⍽`, all else that does not show as its number."""
    if text.isalnum() and text.isascii():
        return text
    return "".join(_shown(char) for char in text)


def _shown(char: str) -> str:
    if char in _MARKS:
        return _MARKS[char]
    if char.isascii():
        return visible(char)
    shown = visible(char)
    if shown == char and (char in _OURS or _is_unseen(char)):
        return f"\\u{{{ord(char):04X}}}"
    return shown


def _is_unseen(char: str) -> bool:
    """Spaces, controls, and marks that join the character before them."""
    from unicodedata import category

    return category(char) in ("Zs", "Zl", "Zp", "Cc", "Cf", "Co") or _joins(char) or not char.isprintable()


def _joins(char: str) -> bool:
    """Accents of their own and variation selectors; a script's vowel signs are letters to its readers."""
    return any(low <= char <= high for low, high in _JOINING)


def named(text: str) -> list[str]:
    """Every invisible or look-alike character of `text`, once, in order: `U+FF1A FULLWIDTH COLON, looks like ":"`."""
    return [name for char in _once(text) if (name := name_of(char)) is not None]


def name_of(char: str) -> str | None:
    """What an invisible or look-alike character is; None for one that is plainly itself."""
    if char.isascii() and (char.isprintable() or char in "\n\r\t"):
        return None
    from unicodedata import name

    label = f"U+{ord(char):04X} {name(char, '')}".rstrip()
    alike = looks_like(char)
    if alike:
        return f'{label}, looks like "{alike}"'
    if _joins(char):
        return f"{label}, joins the character before it"
    if _is_unseen(char):
        return f"{label}, does not show"
    return label if char in _OURS else None


def looks_like(char: str) -> str | None:
    """The ASCII character that one is drawn like; None where it is like none, or ASCII itself."""
    from unicodedata import category, normalize

    if char in _ALIKE:
        return _ALIKE[char]
    if char.isascii() or category(char) == "Nl":
        return None
    folded = normalize("NFKC", char)
    return folded if len(folded) == 1 and folded.isascii() and category(char) != "No" else None


def _once(text: str) -> Iterable[str]:
    return dict.fromkeys(text)
