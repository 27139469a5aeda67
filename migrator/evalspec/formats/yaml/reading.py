"""Bytes to a parsed YAML file: strict UTF-8, limits, nodes with marks, and never a traceback.

The dialect is YAML 1.1 as PyYAML's safe loader reads it, for every family (design.md, "Bytes").
"""

from __future__ import annotations

import re

from evalspec.errors import FormatError
from evalspec.formats.yaml.problems import fault
from evalspec.formats.yaml.source import BOM, STRICT, Dialect, Source, YamlFile, YamlLimits

_ESCAPED_NUL = re.compile(r"\\(?:0|x00|u0000|U00000000)")


def read(data: bytes, *, limits: YamlLimits | None = None, dialect: Dialect = STRICT) -> YamlFile:
    """Parse a YAML file.

    Args:
        data: the bytes of the file.
        limits: what it may cost; the defaults of `YamlLimits` if None.
        dialect: `STRICT`, or `LM_EVAL`.

    Raises:
        FormatError: `too_large`, `bad_encoding`, `nul_character`, `bad_yaml`, `too_deep`, `alias_bomb`.
    """
    from evalspec.formats.yaml.compose import compose

    limits = limits or YamlLimits()
    if len(data) > limits.size:
        # How many more is not known: a large file is read no further.
        message = f"the file has more than {limits.size:,} bytes, the limit for YAML"
        fix = "keep many records in JSONL, or raise the limit (--max-yaml)"
        raise FormatError("too_large", message, fix=fix)
    text = decode(data)
    bom = text.startswith(BOM)
    warnings: tuple[FormatError, ...] = ()
    if bom:
        text = text[1:]
        message = "the file begins with a byte order mark (EF BB BF); it is kept"
        warnings = (
            FormatError("byte_order_mark", message, text=BOM, fix="save the file as UTF-8 without a mark"),
        )
    source = Source(text)
    documents = compose(source, limits)
    nul = "\\" in text and _ESCAPED_NUL.search(text) is not None
    return YamlFile(source, bom, documents, dialect, limits, warnings, nul)


def decode(data: bytes) -> str:
    """The bytes as text.

    Raises:
        FormatError: `bad_encoding`, at the first byte that is not UTF-8.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        message = f"the byte {data[error.start]:02X} is not UTF-8 here"
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            message += "; the file looks like UTF-16"
        source = Source(before)
        raise fault(source, len(before), "bad_encoding", message, fix="save the file as UTF-8") from None
