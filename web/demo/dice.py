"""Seeded choices for made payloads."""

from __future__ import annotations

from random import Random


class Dice:
    """Seeded choices through ``Random.random`` alone, the one method whose sequence Python promises to keep."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed).random  # noqa: S311  payloads, no secrets

    def below(self, limit: int) -> int:
        """A whole number from 0 up to ``limit``, exclusive."""
        return int(self._random() * limit)

    def one(self, options: tuple[str, ...]) -> str:
        """One of the options."""
        return options[self.below(len(options))]
