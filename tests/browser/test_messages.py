"""Golden conversations in Chromium, durable where the store is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from page_engine import Engine

pytestmark = pytest.mark.browser
FILES = sorted((Path(__file__).parents[1] / "conversations").glob("*.json"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_golden_conversation(engine: Engine, file: Path) -> None:
    golden: dict[str, Any] = json.loads(file.read_text("utf-8"))
    after = engine.run(
        "return JSON.stringify(await caveman.compressMessages(messages, { tools, exempt }));",
        **{name: golden[name] for name in ("messages", "tools", "exempt")},
    )
    assert json.loads(after) == golden["compressed"]


def test_what_a_conversation_got_is_durable(engine: Engine) -> None:
    golden = json.loads(FILES[0].read_text("utf-8"))
    persisted, whole = engine.run(
        """const durable = await createCaveman({ persistence: "indexeddb" });
        const told = [];
        const onResult = (tool, report) => { if (report.recoveryHandle) told.push(report); };
        await durable.compressMessages(messages, { tools, onResult });
        durable.close();
        const later = await createCaveman({ persistence: "indexeddb" });
        const whole = await Promise.all(told.map((report) => later.retrieve(report.recoveryHandle)));
        await later.clear(); later.close();
        return [told.map((report) => report.persisted), whole.every((bytes) => bytes.length > 512)];""",
        **{name: golden[name] for name in ("messages", "tools")},
    )
    assert persisted
    assert all(persisted)
    assert whole
