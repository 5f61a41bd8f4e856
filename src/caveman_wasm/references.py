"""Handles, object ids and the one grammar of ``ccr_…``, ``<<ccr:…>>``, ``ccr:…`` and ``ccr://…``.

Frozen once shipped: an agent may hold a reference for as long as its store lives.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Final

from caveman_wasm.errors import InvalidArguments, InvalidReference

__all__ = ["Reference", "content_hash", "handle", "is_object_id", "object_id", "parse_reference"]

DIGITS: Final = 32  # hex digits of an id: the first 16 bytes of a SHA-256 (SPEC 1)
LONGEST: Final = 4096  # characters; a reference is some 40, and a JSON Pointer is no document

_ID = re.compile(r"(?ai)(?:ccr:(?://)?)?(ccr_(?:obj_)?)([0-9a-f]*)")
_SELECTORS = {
    "line": re.compile(r"(?a)\d+(?:,\d*)?|,\d+"),  # RFC 5147, without its integrity checks
    "char": re.compile(r"(?a)\d+(?:,\d*)?|,\d+"),
    "row": re.compile(r"(?a)(?:\d+|\*)(?:-(?:\d+|\*))?(?:;(?:\d+|\*)(?:-(?:\d+|\*))?)*"),  # RFC 7111
    "col": re.compile(r"(?a)(?:\d+|\*)(?:-(?:\d+|\*))?(?:;(?:\d+|\*)(?:-(?:\d+|\*))?)*"),
    "cell": re.compile(r"(?a)(?:\d+|\*),(?:\d+|\*)(?:[-;](?:\d+|\*),(?:\d+|\*))*"),
}
_FORMS: Final = {
    "line": "#line=10,20 (lines 11 to 20)",
    "char": "#char=10,20 (characters 11 to 20)",
    "row": "#row=5-7",
    "col": "#col=2-3",
    "cell": "#cell=4,1 (row 4, column 1)",
}
_POINTER = re.compile(r"(?:/(?:[^/~]|~[01])*)*")  # RFC 6901; each branch has its own first character: linear

_PAIRS: Final = dict(zip("([{<\"'`*_“‘„«‹「『（【《〈", ")]}>\"'`*_”’“»›」』）】》〉", strict=True))
_BLANKS: Final = " \t\r\n\v\f\x85\xa0\u2003\u2028\u2029\u200b\u2060\u3000\ufeff"
_FRAME: Final = "".join({*_PAIRS, *_PAIRS.values()}) + _BLANKS
_PUNCTUATION: Final = ".,;:!?…。，、；：！？"
_HELP: Final = "pass the reference as it stands in the text, ccr_ and 32 hex digits"


def handle(original: bytes) -> str:
    """The handle of a payload: ``ccr_`` and the first 16 bytes of its SHA-256 in hex. Computed nowhere else."""
    return "ccr_" + hashlib.sha256(original).hexdigest()[:DIGITS]


def content_hash(data: bytes) -> str:
    """``sha256:`` and the whole digest of ``data`` in hex."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def object_id(type: str, session_id: str, source: str, repository_state: str, content_hash: str) -> str:
    """The id of a typed object: ``ccr_obj_`` and 16 bytes of SHA-256 over the five fields joined by NUL (SPEC 8)."""
    fields = "\0".join((type, session_id, source, repository_state, content_hash))
    return "ccr_obj_" + hashlib.sha256(fields.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]


def is_object_id(id: str) -> bool:
    """Whether an id, in its one spelling, is a typed object's and no record's."""
    return id.startswith("ccr_obj_")


@dataclass(frozen=True, slots=True)
class Reference:
    """What a reference names.

    ``id`` is in its one spelling, lower case. ``selector`` is what stood after ``#``, as it was written (a
    JSON Pointer is not percent-decoded; the name before ``=`` is in lower case): None without a ``#``, '' the whole.
    """

    id: str
    selector: str | None = None

    @property
    def is_object(self) -> bool:
        return is_object_id(self.id)


def parse_reference(text: str) -> Reference:
    """Read a reference as agents copy it (SPEC 7): in quotes, brackets, a link, upper case, with a full stop.

    After a selector only what encloses the whole reference is taken off, and white space: ``#/a/3.`` may be a
    key. (A key that ends in a blank is written ``%20``.) Raises InvalidReference, InvalidArguments if not a str.
    """
    if not isinstance(text, str):
        raise InvalidArguments(f"a reference is a str, not {type(text).__name__}; {_HELP}")
    if len(text) > LONGEST:
        raise InvalidReference(f"a text of {len(text)} characters is no reference; {_HELP}")
    text = _link_target(text)
    body = text.lstrip(_FRAME)
    frame = text[: len(text) - len(body)]
    match = _ID.match(body)
    if match is None:
        raise InvalidReference(f"this is no reference; {_HELP}")
    name = (match[1] + match[2][:DIGITS]).lower()
    if spare := len(match[2][DIGITS:]):
        raise InvalidReference(f"{name}… is too long: {spare} digits more than {DIGITS}; {_HELP}", reference=name)
    selector = _after_id(name, frame, body[match.end() :])
    if missing := DIGITS - len(match[2]):
        message = f"{name} is cut short: {missing} of its {DIGITS} digits are missing; look up the whole reference"
        raise InvalidReference(message, reference=name)
    return Reference(name, selector)


def _link_target(text: str) -> str:
    """The target of a Markdown link, framed or not; any other text as it is."""
    label, bracket, rest = text.partition("](")
    if not bracket or not label.lstrip(_FRAME.replace("[", "")).startswith("["):
        return text
    inside, closed, after = rest.rpartition(")")
    words = inside.split(None, 1)  # a title may follow the target
    if not closed or after.strip(_FRAME + _PUNCTUATION) or not words:
        raise InvalidReference(f"this Markdown link leads to no reference; {_HELP}")
    return words[0]


def _after_id(name: str, frame: str, rest: str) -> str | None:
    """The selector in what follows the digits, or None; what is neither selector nor frame is refused."""
    if rest.startswith("#"):
        return _selector(name, _unframed(name, frame, rest[1:]))
    if rest.startswith(">>#") and frame.endswith("<<"):
        return _selector(name, _unframed(name, frame[:-2], rest[3:]))
    if rest.strip(_FRAME + _PUNCTUATION):
        raise InvalidReference(f"{name} is followed by what belongs to no reference; {_HELP}", reference=name)
    return None


def _unframed(name: str, frame: str, selector: str) -> str:
    """Take off, from the outside in, the partner of each opening character that stands before the reference."""
    for opening in frame:
        if opening in _BLANKS:
            continue
        selector = selector.rstrip(_BLANKS)
        if not selector.endswith(partner := _PAIRS.get(opening, opening)):
            selector = selector.rstrip(_PUNCTUATION)  # (ccr://…#/a). has its full stop outside
        if not selector.endswith(partner):
            message = f"the reference to {name} opens with {opening} and does not close it; pass it without"
            raise InvalidReference(message, reference=name)
        selector = selector[: -len(partner)]
    return selector.rstrip(_BLANKS)


def _selector(name: str, text: str) -> str:
    kind, equals, value = text.partition("=")
    pattern = _SELECTORS.get(kind.lower()) if equals else None
    if pattern is not None and pattern.fullmatch(value):
        return f"{kind.lower()}={value}"
    if pattern is None and _POINTER.fullmatch(text):
        return text
    raise InvalidReference(f"{_malformed(text)} (the selector after {name}#)", reference=name)


def _malformed(text: str) -> str:
    """What is wrong with a selector of no form, and the nearest form there is."""
    kind, equals, _ = text.partition("=")
    if equals and kind.lower() in _FORMS:
        return f"what follows {kind.lower()}= is no position; it is written {_FORMS[kind.lower()]}"
    if text.startswith("/"):
        return "a bare ~ stands in the JSON Pointer; write ~0 for a tilde and ~1 for a slash in a key"
    if _POINTER.fullmatch(f"/{text}") and not equals:
        return "a JSON Pointer begins with a slash; write #/ before the first key"
    return f"a selector is a JSON Pointer as #/a/0/b, or {', or '.join(_FORMS.values())}"
