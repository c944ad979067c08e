"""Do recorded arguments still fit a tool? A look at names and simple types, without fetching or compiling anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def misfits(schema: Mapping[str, Any], args: Mapping[str, Any]) -> list[str]:
    """Where arguments do not fit a tool's input schema, as sentences for a person.

    >>> misfits({"properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}, {"m": 1})
    ["'n' is required and was not given", "'m' is not an argument of the tool"]
    """
    properties = schema.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    found = [f"{name!r} is required and was not given" for name in schema.get("required") or () if name not in args]
    for name, value in args.items():
        if name not in properties:
            if schema.get("additionalProperties") is False:
                found.append(f"{name!r} is not an argument of the tool")
            continue
        wanted = properties[name].get("type") if isinstance(properties[name], Mapping) else None
        if isinstance(wanted, str) and wanted in _TYPES and not _is(value, wanted):
            found.append(f"{name!r} must be of type {wanted}")
    return found


def _is(value: Any, wanted: str) -> bool:
    if isinstance(value, bool):
        return wanted == "boolean"
    if wanted == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[wanted])
