"""Is a payload a program, a log, a search result, settings? Told by what most of its lines look like."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Final

from caveman_wasm.detect_pattern import either
from caveman_wasm.detect_patterns import (
    ASSIGNED,
    BELOW,
    BLOCK,
    BLOCK_TEXT,
    BLOCKS,
    BUILD,
    CODE_END,
    COMMENT,
    COMMIT,
    DATUM,
    DIRECTIVE,
    DOCKER,
    DUMP,
    EXCHANGE,
    FOLDER,
    FUNCTION,
    HEADING,
    HIT,
    HIT_BY_NAME,
    HIT_OF_ONE,
    LEVELLED,
    LISTED,
    LOOSE_END,
    NAME,
    NO_CONFIG,
    NUMBERED,
    ONE_LINE_COMMIT,
    PATH,
    PINNED,
    PROSE,
    REMARK,
    REMARKED,
    SECTION,
    SETTING,
    SEVERAL,
    SLASHED,
    SPREAD,
    STATEMENT,
    STRONG,
    TAG,
    TIGHT,
    TIMED,
    TRACE,
    WEB_ADDRESS,
    WEB_HIT,
    WORDS,
    XML,
    YAML,
    YAML_ITEM,
)
from caveman_wasm.detect_sample import Lines, Sample

__all__ = ["after_comments", "code", "config", "log", "nul_list", "search_result"]


# ---------------------------------------------------------------- code

_LIKE: Final = {  # (loosely, with data) → what lines of code look like
    (loosely, data): either(LOOSE_END if loosely else CODE_END, STATEMENT, *((DATUM,) if data else ()))
    for loosely in (False, True)
    for data in (False, True)
}
_SETTING: Final = either(YAML, ASSIGNED)


def code(sample: Sample) -> bool:
    """Most lines that are no comment are statements or end like code, and some could be nothing else."""
    if sample.head.startswith(("#!/", "<?php")):
        return True
    if sample.fenced or XML.match(sample.head):
        return False
    if _minified(sample.head) or ("COPY " in sample.head and DUMP.search(sample.head)):
        return True
    lines = sample.lines
    if any(lines.above(pattern, 0.3) for pattern in (HIT, TIMED, LEVELLED)):
        return False
    own = _own_lines(sample)
    if len(own) < 0.5 * len(lines) and lines.at_least(SLASHED, 0.5) and (not own or own.at_least(STRONG, 0.5)):
        return True  # comments as only programs have them, and nothing that speaks against it
    begins = any(map(STRONG.match, own.all[:3]))
    surely = own.at_least(STRONG, 0.15)
    strong = 0.15 if surely else own.share(STRONG)
    if not strong or (strong < 0.02 and not begins):
        return False
    like = _LIKE[strong >= 0.04 or begins, begins]
    if not own.at_least(like, 0.35 if strong >= 0.08 else 0.5):
        return False
    return surely or own.count(like) > sum(
        not is_code and bool(_SETTING.match(line)) for line, is_code in zip(own.all, own.matched(like), strict=True)
    )


def _own_lines(sample: Sample) -> Lines:
    """The lines that are no comment."""
    own = _without_block_texts([line for section in sample.sections for line in _without_comments(section)])
    return sample.lines if len(own) == len(sample.lines) else Lines(own)


def _minified(head: str) -> bool:
    """A program in a few very long lines."""
    if head.count("\n") * 400 > len(head) or len(head) < 400:
        return False
    marks = sum(map(head.count, "(){};=,"))
    return marks > 0.1 * len(head) and bool(FUNCTION.search(head))


def _without_comments(lines: list[str]) -> list[str]:
    """Lines less comments and the insides of doc strings and comment blocks."""
    text = "\n".join(lines)
    marks = [mark for mark in ('"""', "'''") if mark in text]
    if not marks and "/*" not in text:
        return [line for line in lines if not COMMENT.match(line)]
    own: list[str] = []
    closing = ""
    for line in lines:
        if closing:
            closing = "" if closing in line else closing
        elif COMMENT.match(line):
            closing = "*/" if line.lstrip().startswith("/*") and "*/" not in line else ""
        else:
            own.append(line)
            for mark in marks:
                closing = mark if line.count(mark) == 1 else closing
    return own


def _without_block_texts(lines: list[str]) -> list[str]:
    """Lines less the texts that YAML sets below a ``key: |``."""
    if not any(line[-1] in "|>+-0123456789" and BLOCK_TEXT.match(line) for line in lines):
        return lines
    own: list[str] = []
    below = None  # the key's indentation while its text lasts
    for line in lines:
        indent = len(line) - len(line.lstrip(" "))
        if below is None or indent <= below:
            own.append(line)
            below = indent if BLOCK_TEXT.match(line) else None
    return own


# ---------------------------------------------------------------- logs


def log(sample: Sample) -> bool:
    """Entries with a time or a level, with what belongs to them; or the steps of a build."""
    if sample.fenced:
        return False
    lines = sample.lines
    if len(lines) >= 2 and lines.above(TIMED, 0.5):
        return True
    timed, levelled = lines.share(TIMED), lines.share(LEVELLED)
    entries = max(timed, levelled)
    if not timed and lines.above(SETTING, 0.5 * (1 - lines.share(REMARK))):
        return False  # settings that name levels
    if entries * len(lines) >= 2 and (entries >= 0.25 or (entries >= 0.02 and entries + lines.share(TRACE) >= 0.6)):
        return not lines.at_least(HIT, 0.6)
    if len(lines) >= 3 and lines.at_least(TRACE, 0.5):
        return True
    if lines.count(COMMIT) >= 2 and COMMIT.match(lines.all[0]):
        return True
    if lines.at_least(ONE_LINE_COMMIT, 0.9) or (len(lines) > 8 and lines.at_least(EXCHANGE, 0.8)):
        return True
    if lines.at_least(BUILD, 0.2) and lines.count(BUILD) >= 2:
        builds = lines.share(BUILD)
        below = lines.indented / len(lines)  # what a step printed
        if builds >= 0.4 or builds + lines.share(TRACE) + below >= 0.9:
            return True
    return _same_tag(lines)


def _same_tag(lines: Lines) -> bool:
    """Whether most lines begin with one of a few bracketed tags, as of CI stages or containers."""
    if len(lines) < 5 or not lines.at_least(TAG, 0.8):
        return False
    tags = Counter(match[0] for line in lines.all if (match := TAG.match(line)))
    return sum(count for _, count in tags.most_common(4)) / len(lines) >= 0.8


# ---------------------------------------------------------------- searches and listings


def search_result(sample: Sample) -> bool:
    if "\0" in sample.head and nul_list(sample):
        return True
    lines = sample.lines
    if len(lines) < 2:
        return False
    if lines.at_least(HIT, 0.6) or lines.at_least(LISTED, 0.6) or _hits_by_name(lines):
        return True
    if _hits_under_headings(lines) or _web_hits(lines):
        return True
    names = [line for line in lines.all if NAME.match(line)]
    folders = lines.count(FOLDER)
    if folders >= 2 and len(names) + folders >= 0.95 * len(lines):
        return True  # ls -R
    if lines.all[0].startswith("total ") and lines.at_least(BLOCKS, 0.95):
        return True
    telling = sum("/" in line or "." in line[1:-1] for line in names)
    # fewer than 0.6 of the lines are listed (above)
    if len(names) >= 3 and telling >= 0.25 * len(lines) and telling + lines.count(LISTED) >= 0.85 * len(lines):
        return True
    if len(names) < max(10, 0.98 * len(lines)) or " " in "".join(names):
        return False
    return telling >= 0.15 * len(lines) or _sorted_names(names)


def nul_list(sample: Sample) -> bool:
    """File names ended by NUL, as of ``find -print0``, ``git ls-files -z``, ``grep -Z``."""
    names = sample.head.split("\0")[:-1]
    return len(names) >= 3 and all(map(PATH.fullmatch, names))


def _sorted_names(names: list[str]) -> bool:
    """A bare ``ls``: in order, as a locale sorts, and not words alone."""
    keys = ["".join(filter(str.isalnum, name)).lower() for name in names]
    ordered = sum(first <= second for first, second in pairwise(keys))
    return ordered >= 0.9 * len(names) and sum(not name.isalpha() for name in names) >= 0.2 * len(names)


def _web_hits(lines: Lines) -> bool:
    """Numbered titles, each with its address on a line of its own soon below."""
    if not lines.count(WEB_ADDRESS):
        return False
    heads = [at for at, line in enumerate(lines.all) if WEB_HIT.match(line)]
    found = sum(any(map(WEB_ADDRESS.match, lines.all[at + 1 : at + 4])) for at in heads)
    return found >= 3 and found >= 0.6 * len(heads)


def _hits_by_name(lines: Lines) -> bool:
    """``path:text``: grep without line numbers. Paths repeat, or there is a slash in them."""
    if not lines.at_least(HIT_BY_NAME, 0.8):
        return False
    found = [match[1] for line in lines.all if (match := HIT_BY_NAME.match(line))]
    pathlike = sum("/" in name or "." in name for name in found)
    return pathlike >= 0.8 * len(found)


def _hits_under_headings(lines: Lines) -> bool:
    """ripgrep's way for people: a path, then ``12:text`` lines."""
    if not lines.at_least(NUMBERED, 0.4):
        return False
    if lines.at_least(NUMBERED, 0.95):  # one file's hits
        numbers = [int(match[1]) for line in lines.all if (match := HIT_OF_ONE.match(line))]
        return len(numbers) >= 0.9 * len(lines) >= 2 and numbers == sorted(set(numbers))
    heads = [line for line in lines.all if not NUMBERED.match(line) and line != "--"]
    paths = sum(bool(NAME.match(line)) and ("/" in line or "." in line) for line in heads)
    return 0 < len(heads) <= paths / 0.8


# ---------------------------------------------------------------- configuration


def config(sample: Sample) -> bool:
    head, lines = sample.head, sample.lines
    if sample.text.rstrip()[-1:] == ">" and XML.match(
        after_comments(head) if head.lstrip().startswith("<!--") else head
    ):
        return not sample.fenced and not lines.count(HEADING)
    remarks = lines.count(REMARK)
    left = _without_block_texts([line for line in lines.all if not REMARK.match(line)] if remarks else lines.all)
    own = lines if len(left) == len(lines) else Lines(left)
    if not own:
        return lines.count(REMARKED) >= 3 or lines.share(REMARKED) >= 0.1  # settings that are all commented out
    if lines.count(REMARKED) >= max(3, len(own)) and all(len(line.split()) <= 6 for line in own.all):
        return not sample.fenced  # settings of which most are commented out
    if sample.fenced or NO_CONFIG.match(head) or own.above(PROSE, 0.35):
        return False
    if remarks >= 2 and REMARK.match(lines.all[0]) and own.at_least(WORDS, 0.9):
        return True  # `Port 22` and `proc /proc proc defaults 0 0` below a comment
    return _keyed(own, sample)


def _keyed(own: Lines, sample: Sample) -> bool:
    if own.above(SPREAD, 0.5) or own.at_least(SEVERAL, 0.2) or sample.lines.at_least(LISTED, 0.6):
        return False  # columns below a header, or numbered lines
    if own.at_least(PINNED, 0.7) or (sample.lines.count(REMARK) and own.at_least(TIGHT, 0.9)):
        return True  # requirements and checksums; ``key:value`` under headings
    if DOCKER.match(own.all[0]) and own.at_least(DOCKER, 0.5):
        return True
    assigned, sections = own.share(ASSIGNED), own.share(SECTION)
    continued = own.indented / len(own)  # values that go on
    if sections and (
        assigned + sections >= 0.5 or (assigned + sections >= 0.2 and assigned + sections + continued >= 0.9)
    ):
        return True
    yaml = own.share(YAML)
    if (
        assigned >= 0.7
        or (assigned >= 0.3 and yaml + assigned >= 0.95)
        or (yaml >= 0.35 and (yaml >= 0.65 or own.at_least(_YAML_LINE, 0.65)))
    ):
        return True
    return (own.at_least(BLOCK, 0.1) and own.at_least(_BLOCK_LINE, 0.75)) or (
        (yaml >= 0.1 or (yaml > 0 and continued >= 0.75)) and continued >= 0.5 and own.at_least(_TREE_LINE, 0.85)
    )


_YAML_LINE: Final = either(YAML, YAML_ITEM)
_BLOCK_LINE: Final = either(BLOCK, ASSIGNED, DIRECTIVE, YAML)
_TREE_LINE: Final = either(YAML, DIRECTIVE, BELOW)


ENDS: Final = {"<!--": "-->", "<?xml": "?>", "{%": "%}", "{#": "#}", "{{": "}}", "<%": "%>"}


def after_comments(head: str) -> str:
    """The head without XML declaration, leading comments and template tags."""
    while (body := head.lstrip()).startswith(tuple(ENDS)):
        end = next(end for begin, end in ENDS.items() if body.startswith(begin))
        at = body.find(end, 2)
        if at < 0:
            return body
        head = body[at + len(end) :]
    return head
