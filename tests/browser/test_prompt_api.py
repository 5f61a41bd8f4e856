"""The Prompt API's tools in Chromium with that feature on: its own reading of them and its own classes. Only the model is a fake."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from once import FLAGS
from page_engine import Engine, bare
from payloads import log
from playwright.sync_api import Browser

pytestmark = pytest.mark.browser
IMPORT = "const { promptAPITools, promptAPIToolResponses, PROMPT_API_TOOL_USE } = await import(`${base}adapters/prompt-api.js`);"
# A fake session: asks for the source of the reference in what it is given, and repeats what it is answered.
FAKE = """const prompt = async (input) => {
  if (typeof input !== "string") return input[0].content.map(({ value }) => value.errorMessage ?? value.result[0].value).join("");
  const value = new LanguageModelToolCall({ callID: "1", name: "caveman_retrieve", arguments: { reference: input } });
  return [{ type: "text", value: "let me look" }, { type: "tool-call", value }];
};"""
UNKNOWN = "ccr_" + "0" * 32


@pytest.fixture(scope="module")
def page(chromium: Browser, site: str) -> Iterator[Engine]:
    path = os.environ.get("CHROMIUM") or None
    browser = chromium.browser_type.launch(
        executable_path=path, args=[*FLAGS, "--enable-blink-features=AIPromptAPI,AIPromptAPIToolUse"]
    )
    yield bare(browser.new_page(), site)
    browser.close()


def test_the_browser_takes_the_declarations(page: Engine) -> None:
    """There is no model here: past the reading of its options `create` says so. A wrong option is a TypeError before."""
    names = page.run(
        IMPORT
        + """const create = (options) => LanguageModel.create(options).then(() => "created", (e) => e.name);
        return [await create({ tools: promptAPITools(caveman, { all: true }), ...PROMPT_API_TOOL_USE }),
                await create({ tools: [{ name: "no description" }], ...PROMPT_API_TOOL_USE })];"""
    )
    assert names == ["NotSupportedError", "TypeError"]


def test_calls_are_answered_with_the_browsers_own_classes(page: Engine) -> None:
    kinds, said, failed = page.run(
        IMPORT
        + FAKE
        + """const { recoveryHandle } = await caveman.compress(bytes(payload));
        const answered = async (reference) => promptAPIToolResponses(caveman, await prompt(reference));
        const [whole, unknown] = [await answered(recoveryHandle), await answered(missing)];
        return [[whole, unknown].map(([{ type, value }]) => [type, value.constructor.name, value.callID]),
                await prompt([{ role: "user", content: whole }]), await prompt([{ role: "user", content: unknown }])];""",
        payload=log(b"prompt"),
        missing=UNKNOWN,
    )
    assert kinds == [
        ["tool-response", "LanguageModelToolSuccess", "1"],
        ["tool-response", "LanguageModelToolError", "1"],
    ]
    assert said == log(b"prompt").decode()
    assert failed.startswith("cave_unknown_handle: ")
