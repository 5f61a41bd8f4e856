"""The wording of markers and of the reference line. Formats put it into their own syntax; nobody else words it.

Everything here is plain text; formats turn it into source text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = [
    "CLOSING_TAGS",
    "MARKER_KEY",
    "NON_ADJACENT",
    "REFERENCE_KEY",
    "closing_handle",
    "elision",
    "is_view",
    "reference",
    "view",
]

MARKER_KEY = "_caveman_elided"
REFERENCE_KEY = "_caveman_ref"
NON_ADJACENT = "… [caveman: non-adjacent] …"

_SHORTENED = "[caveman: shortened view, "
_PART = "[caveman: a part of the source, "

# What may stand behind the reference where it has to stand inside of a wrapper: closing tags, short elements.
_TAGS = (
    r"(?:\s*(?:</[\w-]{1,40}>|<(?P<beside>[\w-]{1,40})(?:[ \t][^<>\n]{0,200})?>[^<]{0,1500}</(?P=beside)>)){0,8}\s*\Z"
)
CLOSING_TAGS = re.compile(_TAGS, re.ASCII)
# A closing reference, perhaps inside a JSON string, a table cell or a row of empty cells.
_CLOSING = re.compile(
    r"\[caveman: [^\[\]\r\n]{1,300}<<ccr:(ccr_(?:obj_)?[0-9a-f]{32})>>\]"
    rf'["\]}}\s,;|]{{0,4000}}(?:\s*-->\s*)?{_TAGS}',
    re.ASCII,
)


def singular(noun: str) -> str:
    """``entries`` → ``entry``, ``rows`` → ``row``."""
    return noun[:-3] + "y" if noun.endswith("ies") else noun.removesuffix("s")


def elision(count: int, noun: str, lines: tuple[int, int] | None, facts: Sequence[str]) -> str:
    """``… N UNITS elided[ (L40–52)][: FACT; FACT] …``; ``lines`` is 1-based and inclusive."""
    where = "" if lines is None else f" (L{lines[0]})" if lines[0] == lines[1] else f" (L{lines[0]}–{lines[1]})"
    said = f": {'; '.join(facts)}" if facts else ""
    return f"… {count} {noun if count != 1 else singular(noun)} elided{where}{said} …"


def reference(handle: str, markers: int, units: int) -> str:
    """The one sentence that closes a shortened text, the same in every door."""
    return (
        f"{_SHORTENED}{markers} markers for {units} units; the source is intact. "
        f"To read it, ask once, broadly, with this reference: <<ccr:{handle}>>]"
    )


def view(handle: str) -> str:
    """The sentence that closes a narrowed view."""
    return f"{_PART}which is intact. To read the whole, ask with this reference and no question: <<ccr:{handle}>>]"


def closing_handle(text: str) -> str | None:
    """The handle whose reference closes ``text`` (source or plain), or None. Only the store knows if it is ours."""
    if "[caveman: " not in text:  # finding is many times as fast as finding from the end
        return None
    found = _CLOSING.search(text, text.rfind("[caveman: "))
    return found[1] if found else None


def is_view(text: str) -> bool:
    """Whether the closing reference of ``text`` is a narrowed view's rather than a shortened text's."""
    return text.startswith(_PART, max(0, text.rfind("[caveman: ")))
