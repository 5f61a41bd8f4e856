"""Where one compress or retrieve spends its time: the package's own functions, each wrapped in a clock that stops the outer one.

Runs wherever the package runs: the benchmark imports it natively and hands its text to Pyodide in Node and in Chromium.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

STAGES = ("detect", "split", "select", "facts", "join", "count", "put", "other")


class Clock:
    """Seconds by stage; a stage inside another is not counted in the outer one."""

    def __init__(self) -> None:
        self.spent = dict.fromkeys(STAGES, 0.0)
        self._open = ["other"]
        self._at = time.process_time()

    def start(self) -> None:
        self.spent = dict.fromkeys(STAGES, 0.0)
        self._at = time.process_time()

    def stop(self) -> dict[str, float]:
        self._turn()
        return self.spent

    def _turn(self) -> None:
        now = time.process_time()
        self.spent[self._open[-1]] += now - self._at
        self._at = now

    def around(self, stage: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **options: Any) -> Any:
            self._turn()
            self._open.append(stage)
            try:
                return work(*arguments, **options)
            finally:
                self._turn()
                self._open.pop()

        return timed

    def steps(self, stage: str, work: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        """The same for a generator: only its own steps count."""

        def timed(*arguments: Any) -> Iterator[Any]:
            step = self.around(stage, next)
            found = work(*arguments)
            while (value := step(found, None)) is not None:
                yield value

        return timed


def instrument() -> Clock:
    """Puts a clock around the stages of this process's package; for good."""
    from caveman_wasm import cutting, engine, select
    from caveman_wasm.store import memory

    clock = Clock()
    cutting.candidates = clock.steps("detect", cutting.candidates)
    cutting.detect = clock.around("detect", cutting.detect)
    cutting._split = clock.around("split", cutting._split)
    cutting.order = clock.around("select", cutting.order)
    cutting.left_out = clock.around("select", cutting.left_out)
    select.Order.prefix = clock.around("select", select.Order.prefix)  # type: ignore[method-assign]
    cutting.facts = clock.around("facts", cutting.facts)
    cutting.join = clock.around("join", cutting.join)
    engine.count_tokens = clock.around("count", engine.count_tokens)
    memory.MemoryStore.put = clock.around("put", memory.MemoryStore.put)  # type: ignore[method-assign]
    return clock
