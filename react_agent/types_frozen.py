"""Frozen dataclasses that are made quickly, for the values that every reply needs several of."""

from dataclasses import MISSING, dataclass, fields
from typing import Any, TypeVar, dataclass_transform

_T = TypeVar("_T")


@dataclass_transform(frozen_default=True)
def frozen(cls: type[_T]) -> type[_T]:
    """dataclass(frozen=True, slots=True) with a constructor that writes into the slots themselves.

    The standard constructor of a frozen dataclass calls object.__setattr__ with each name, which takes half as long again. Only for
    fields without a default_factory; there is no __post_init__.
    """
    made: Any = dataclass(frozen=True, slots=True)(cls)
    known: dict[str, Any] = {}
    parameters, body = [], []
    for field in fields(made):
        name = field.name
        known[f"set_{name}"] = getattr(made, name).__set__
        known[f"default_{name}"] = field.default
        parameters.append(name if field.default is MISSING else f"{name}=default_{name}")
        body.append(f"    set_{name}(self, {name})")
    exec("\n".join([f"def __init__(self, {', '.join(parameters)}):", *body]), known)  # as dataclass itself does
    init = known["__init__"]
    init.__annotations__, init.__qualname__ = made.__init__.__annotations__, made.__init__.__qualname__
    made.__init__ = init
    return made  # type: ignore[no-any-return]
