"""A typed object as JSON and back, one form for every door: SPEC 8's fields under their names.

``data`` is the data as text where it is UTF-8, else ``data_base64`` has it; one of the two is given, never both.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final

from caveman_wasm.errors import InvalidArguments
from caveman_wasm.model import TypedObject

__all__ = ["from_json", "to_json"]

_NAMES: Final = frozenset(field.name for field in fields(TypedObject)) | {"data_base64"}


def to_json(obj: TypedObject) -> dict[str, Any]:
    """The object's fields as values that JSON has."""
    said = {field.name: getattr(obj, field.name) for field in fields(obj)} | {"dependencies": list(obj.dependencies)}
    try:
        return said | {"data": obj.data.decode("utf-8")}
    except UnicodeDecodeError:
        del said["data"]
        return said | {"data_base64": b64encode(obj.data).decode("ascii")}


def from_json(said: object) -> TypedObject:
    """The object that a JSON value states; the store checks what its fields say. Raises InvalidArguments."""
    if not isinstance(said, Mapping):
        raise InvalidArguments("an object is a JSON object with the fields of a typed object; nothing was stored")
    if unknown := sorted(map(str, said.keys() - _NAMES)):
        raise InvalidArguments(f"an object has no field {', '.join(unknown)[:200]}; nothing was stored")
    if missing := {"type", "session_id"} - said.keys():
        raise InvalidArguments(f"an object needs {' and '.join(sorted(missing))}; nothing was stored")
    return TypedObject(**{k: v for k, v in said.items() if k != "data_base64"} | {"data": _data(said)})


def _data(said: Mapping[str, Any]) -> bytes:
    text, coded = said.get("data"), said.get("data_base64")
    try:
        if isinstance(text, str) and coded is None:
            return text.encode("utf-8")
        if isinstance(coded, str) and text is None:
            return b64decode(coded, validate=True)
    except ValueError:  # a lone surrogate, or no base64
        pass
    raise InvalidArguments("an object needs data, UTF-8 text, or data_base64, one of the two; nothing was stored")
