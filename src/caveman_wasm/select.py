"""Which units stay, and in what order they are given up.

Every unit that may stay gets one place in one fixed order (`order`); what stays is always a prefix of it
(`left_out`). So a larger ceiling never shows less, and errors and the query's hits, which come first, go last.

A place is (tier, level). Tier 0: the query's hits and failures. Tier 1: what must be seen of a group (ends, first
of each kind, headings). Tier 2 and up: the rest. Within a tier all groups share one *water level*: a unit's level
is what its group has cost when its turn comes, plus its parent's level; so groups rise together and small ones
stay whole. How a group takes its units' turns is its mode:

    records   by worth (survey.py): failures, ends, kinds from coarse to fine, outliers, what occurs once
    tree      small units first
    outline   pinned units first, then in position order; units with children are entered before leaves are kept
    head      in position order
    pinned    pinned units and those somebody asks for, nothing else (generated hunks)

Sizes are bytes of source text.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from caveman_wasm.model import Document, Envelope, Group, Run, plain
from caveman_wasm.ranking import rank, words
from caveman_wasm.survey import Survey, survey

__all__ = ["Order", "budget", "left_out", "order"]

SMALL: Final = 1024  # bytes; what is smaller, such as the shell around an envelope, stays whole
SHORT_RUN: Final = 144  # bytes; a smaller run costs as much as its marker (SELECTION)
REGULAR: Final = 0.20  # share up to which a kind's units are so alike that less of a small text says as much
REPEATED: Final = 24  # bytes; what is shorter may stand anywhere twice
BARE: Final = 16  # bytes of a unit's own below which it is nothing without what is in it
SHORT_SPAN: Final = 90  # the same within a line
MARKER_COST: Final = 80  # bytes a marker without facts is reckoned at while planning
FACTS_COST: Final = 160  # bytes of its facts, an eighth of the group at most
LEAVES: Final = 9  # tier of an outline's unpinned leaves
HITS: Final = 8  # units a query may put into tier 0

Place = tuple[int, int]  # tier, level


def budget(size: int, keep: float) -> int:
    """Bytes that a text of ``size`` bytes should come down to: its kind's share; small texts keep more, or all."""
    if size <= SMALL:
        return 64 * size + 4096
    return int(max(keep * size, min(0.6 * size, 3600 if keep > REGULAR else 2600))) + 240


@dataclass(slots=True)
class _Node:
    """A group in its place: ``parent`` is its parent's number and ``unit`` the unit it is in; a root has -1."""

    group: Group
    parent: int
    unit: int
    costs: dict[int, int]  # units of which a part is not theirs to pay (children, envelopes): what is left
    urgent: set[int] = field(default_factory=set)
    survey: Survey | None = None

    def cost(self, i: int) -> int:
        own = self.costs.get(i) if self.costs else None
        return self.group.stops[i] - self.group.starts[i] if own is None else own

    @property
    def marker_cost(self) -> int:
        """Bytes that a marker of this group is reckoned at."""
        return MARKER_COST + (0 if self.survey is None else min(FACTS_COST, self.group.extent // 8))


@dataclass(slots=True)
class Order:
    """The groups of a document and the places of their units, best first."""

    nodes: list[_Node]
    places: list[tuple[int, int]]  # (node number, unit index)
    urgent: int  # how many of the places are hits and failures
    outlined: int  # how many of the places come before an outline's unpinned leaves
    literal: int  # bytes outside of all groups

    def prefix(self, limit: int) -> int:
        """How many places fit into ``limit`` bytes, markers reckoned in. Urgent ones stay in any case."""
        granted: dict[int, set[int]] = {}
        costs = [node.marker_cost for node in self.nodes]
        opened: defaultdict[tuple[int, int], int] = defaultdict(int)  # the markers of all groups in a unit
        for node, cost in zip(self.nodes, costs, strict=True):
            opened[node.parent, node.unit] += cost
        spent = self.literal + opened[-1, -1]
        for k, (number, i) in enumerate(self.places):
            node, mine = self.nodes[number], granted.setdefault(number, set())
            group = node.group
            if group.markers == "run":
                split = 1 - (i == 0 or i - 1 in mine) - (i == len(group.starts) - 1 or i + 1 in mine)
                mine.add(i)
            else:  # one marker until all are there
                mine.add(i)
                split = -(len(mine) == len(group.starts))
            spent += node.cost(i) + costs[number] * split
            if i in group.children:
                spent += opened[number, i]
            if spent > limit and k >= self.urgent:
                return k
        return len(self.places)


def order(document: Document, query: str = "") -> Order:
    """The fixed order for ``document``, without its envelopes, each of which has an order of its own."""
    nodes = _flatten(document)
    _mark_urgent(document.text, nodes, query)
    places: list[tuple[int, int, int, int]] = []
    given: list[dict[int, Place]] = []
    seen: set[str] = set()
    for number, node in enumerate(nodes):  # parents stand before their children
        base: Place | None = (1, 0)
        if node.parent >= 0:
            base = given[node.parent].get(node.unit)
            if (
                base and nodes[node.parent].group.mode == "records"
            ):  # what is in a failing record goes before the others'
                base = (max(base[0], 2) if base[0] else 1, base[1])
        mine = _places(node, base) if base else {}
        if mine and node.parent >= 0 and node.group.mode in ("records", "tree"):
            _put_off(document.text, node, mine, seen)
        given.append(mine)
        places += [(tier, level, number, i) for i, (tier, level) in mine.items()]
    places.sort()
    outside = len(document.text) - sum(g.extent for g in document.groups if len(g))
    urgent, outlined = sum(p[0] == 0 for p in places), sum(p[0] < LEAVES for p in places)
    return Order(nodes, [p[2:] for p in places], urgent, outlined, outside)


def left_out(ordered: Order, places: int) -> list[Run]:
    """The runs that are left out when the first ``places`` of the order stay."""
    granted: list[set[int]] = [set() for _ in ordered.nodes]
    for number, i in ordered.places[:places]:
        granted[number].add(i)
    _leave_empty(ordered.nodes, granted)
    runs: list[Run] = []
    for node, mine in zip(ordered.nodes, granted, strict=True):
        if node.parent >= 0 and node.unit not in granted[node.parent]:
            mine.clear()  # the parent is gone, or kept whole since too small to leave out
        else:
            runs += _runs(node.group, sorted(mine))
    return runs


def _leave_empty(nodes: list[_Node], granted: list[set[int]]) -> None:
    """A paragraph of which no sentence stays goes as a paragraph: its neighbours' markers become one."""
    filled = {(n.parent, n.unit) for n, mine in zip(nodes, granted, strict=True) if mine}
    for node, mine in zip(reversed(nodes), reversed(granted), strict=True):
        if node.parent < 0 or mine or (node.parent, node.unit) in filled:
            continue
        parent = nodes[node.parent]
        large = _size(node.group, (0, len(node.group))) >= SHORT_RUN
        if large and parent.group.mode in ("outline", "head") and parent.cost(node.unit) <= BARE:
            granted[node.parent].discard(node.unit)


def _runs(group: Group, kept: list[int]) -> list[Run]:
    bounds = [-1, *kept, len(group)]
    gaps = [(a + 1, b) for a, b in itertools.pairwise(bounds) if b - a > 1]
    if group.markers == "run":
        return [Run(group, (gap,)) for gap in gaps if _size(group, gap) >= SHORT_RUN]
    if group.markers == "apart":
        gaps = [(i, i + 1) for first, last in gaps for i in range(first, last)]
    least = SHORT_SPAN if group.markers == "end" else SHORT_RUN
    return [Run(group, tuple(gaps))] if sum(_size(group, gap) for gap in gaps) >= least else []


def _size(group: Group, piece: tuple[int, int]) -> int:
    return group.stops[piece[1] - 1] - group.starts[piece[0]]


# ---------------------------------------------------------------- the groups in a row


def _flatten(document: Document) -> list[_Node]:
    nodes = [_Node(g, -1, -1, {}) for g in document.groups if len(g)]
    for number, node in enumerate(nodes):  # grows while it is walked: children come after their parents
        for i, groups in node.group.children.items():
            inside = [g for g in groups if len(g)]
            whole = node.group.stops[i] - node.group.starts[i]
            node.costs[i] = whole - sum(g.extent for g in inside)
            nodes += [_Node(g, number, i, {}) for g in inside]
    for envelope in document.envelopes:
        _discount(nodes, envelope)
    return nodes


def _discount(nodes: list[_Node], envelope: Envelope) -> None:
    """An envelope has a budget of its own, or stays as it is: the unit it stands in does not pay for it."""
    for node in reversed(nodes):  # the innermost unit that holds it pays
        i = bisect_right(node.group.starts, envelope.start) - 1
        if i >= 0 and envelope.stop <= node.group.stops[i]:
            node.costs[i] = max(0, node.cost(i) - (envelope.stop - envelope.start))
            return


def _mark_urgent(text: str, nodes: list[_Node], query: str) -> None:
    """Tier 0: the query's best units, first and last failure of each kind, and whatever these stand in."""
    for node in nodes:
        if node.group.mode == "records" and node.group.reader is not None and len(node.group) > 1:
            node.survey = survey(node.group.reader, len(node.group))
            node.urgent.update(node.survey.failures)
    for number, i in _hits(text, nodes, query):
        nodes[number].urgent.add(i)
    for node in reversed(nodes):
        if node.urgent and node.parent >= 0:
            nodes[node.parent].urgent.add(node.unit)


def _hits(text: str, nodes: list[_Node], query: str) -> list[tuple[int, int]]:
    """The leaves that answer a query best: none below half of the best score, `HITS` at most."""
    asked = words(query)
    if not asked:
        return []
    leaves = [(number, i) for number, n in enumerate(nodes) for i in range(len(n.group)) if i not in n.group.children]
    spans = [(nodes[number].group.starts[i], nodes[number].group.stops[i]) for number, i in leaves]
    ranked = rank([words(plain(text[start:stop])) for start, stop in spans], asked)
    return [leaves[i] for i, score in ranked[:HITS] if score >= 0.5 * ranked[0][1]]


# ---------------------------------------------------------------- whose turn it is


def _places(node: _Node, base: Place) -> dict[int, Place]:
    mode = node.group.mode
    if mode == "records":
        return _by_worth(node, base)
    if mode == "tree":
        return _by_size(node, base)
    return _by_position(node, base)


def _put_off(text: str, node: _Node, mine: dict[int, Place], seen: set[str]) -> None:
    """What stood in an earlier group word for word says nothing new: its turn comes a tier later."""
    group = node.group
    for i, (tier, level) in mine.items():
        size = group.stops[i] - group.starts[i]
        if tier and REPEATED <= size <= SMALL and i not in group.children:
            said = text[group.starts[i] : group.stops[i]]
            if said in seen:
                mine[i] = (tier + 1, level)
            seen.add(said)


def _by_worth(node: _Node, base: Place) -> dict[int, Place]:
    n = len(node.group)
    turns: list[tuple[int, int]] = [(0, i) for i in sorted(node.urgent)]
    if node.survey is not None:
        turns += node.survey.turns
    else:
        turns += [(1, 0), (1, n - 1)] + [(2, i) for i in range(1, n - 1)]
    most = max(4, 3 * int(n**0.5)) + len(node.urgent)
    places: dict[int, Place] = {}
    level = base[1]
    for tier, i in turns:
        if i not in places and len(places) < most:
            level += node.cost(i)
            places[i] = (0 if tier == 0 else max(tier, base[0]), level)
    return places


def _by_size(node: _Node, base: Place) -> dict[int, Place]:
    tiers = dict.fromkeys(node.urgent, 0)
    return {i: (tiers.get(i, max(1, base[0])), base[1] + node.cost(i)) for i in range(len(node.group))}


def _by_position(node: _Node, base: Place) -> dict[int, Place]:
    """Pinned units have their parent's tier, units to enter the next one; leaves wait until all that is there."""
    group, tier = node.group, max(1, base[0])
    entered: Sequence[int] = ()
    leaves: Sequence[int] = range(len(group.starts))
    if group.pinned:
        pinned = set(group.pinned)
        leaves = [i for i in leaves if i not in pinned]
    if group.mode == "pinned":
        leaves = [i for i in leaves if i in node.urgent]  # the others are counted, unless somebody asks for them
    if group.children:
        entered = [i for i in leaves if i in group.children]
        leaves = [i for i in leaves if i not in group.children]
    places: dict[int, Place] = {}
    for turn, units in ((tier, group.pinned), (min(tier + 1, LEAVES - 1), entered), (LEAVES, leaves)):
        if units:
            levels = itertools.accumulate(map(node.cost, units), initial=base[1])
            next(levels)
            places.update(zip(units, zip(itertools.repeat(turn), levels), strict=True))
    for i in node.urgent & places.keys() if node.urgent else ():
        places[i] = (0, places[i][1])
    return places
