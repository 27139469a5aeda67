"""Names of a package that are imported when they are first asked for: to start fast, a command loads what it needs."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazily(package: str, home: "Mapping[str, str]") -> "Callable[[str], object]":
    """A package's `__getattr__` (PEP 562).

    Args:
        package: its `__name__`.
        home: for each name, the module below the package that has it.
    """

    def attribute(name: str) -> object:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        import sys
        from importlib import import_module

        value: object = getattr(import_module(f"{package}.{home[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return attribute
