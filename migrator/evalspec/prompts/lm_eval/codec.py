"""Settings as JSON, for a process of another's: functions, dates and other keys than texts survive the way."""

from __future__ import annotations

from typing import Any

from evalspec.prompts.problems import FunctionRef

_MARK = "\u0000evalspec"


def encoded(value: Any) -> Any:
    """The value in terms of JSON."""
    if isinstance(value, FunctionRef):
        return {_MARK: "function", "spec": value.spec, "folder": value.folder}
    if isinstance(value, dict):
        return {_MARK: "map", "items": [[encoded(key), encoded(each)] for key, each in value.items()]}
    if isinstance(value, list):
        return [encoded(each) for each in value]
    if value is None or isinstance(value, str | bool | int | float):
        return value
    import base64
    import pickle

    return {_MARK: "other", "data": base64.b64encode(pickle.dumps(value)).decode()}


def decoded(value: Any) -> Any:
    """The value that was encoded. Only for what this program's own parent process said."""
    if isinstance(value, list):
        return [decoded(each) for each in value]
    if not isinstance(value, dict):
        return value
    kind = value[_MARK]
    if kind == "function":
        return FunctionRef(value["spec"], value["folder"])
    if kind == "map":
        return {decoded(key): decoded(each) for key, each in value["items"]}
    import base64
    import pickle

    return pickle.loads(base64.b64decode(value["data"]))  # noqa: S301 - made by our own parent process
