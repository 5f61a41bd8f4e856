/**
 * caveman-wasm in VS Code for the web: commands, `ccr:` documents, a count in the status bar, tools for language
 * models. Python runs in the extension host's own worker and starts when something needs it.
 */

import * as vscode from "vscode";
import { CavemanError, type Caveman, type CompressResult } from "../../src/index.js";
import * as sources from "./commands.js";
import { documentUri, findReference, Links, Originals, putRight, said, SCHEME } from "./documents.js";
import { Engine } from "./engine.js";
import { Folder } from "./folder.js";
import { FolderHook } from "./storage.js";

const MAX_BYTES = 512 * 1024 * 1024; // the engine's own default

export function activate(context: vscode.ExtensionContext): void {
  const place = vscode.Uri.joinPath(context.storageUri ?? context.globalStorageUri, "originals");
  const hook = new FolderHook(new Folder(vscode.workspace.fs, (name) => vscode.Uri.joinPath(place, name)));
  const baseURL = vscode.Uri.joinPath(context.extensionUri, "dist/").toString(true);
  const engine = new Engine({ baseURL, inline: true, persistence: hook, maxBytes: MAX_BYTES });
  const status = new Status(hook);

  const command = <A extends unknown[], R>(name: string, work: (...args: A) => Promise<R>): vscode.Disposable =>
    vscode.commands.registerCommand(`caveman.${name}`, async (...args: A) => {
      try {
        return await work(...args);
      } catch (thrown) {
        if (thrown instanceof sources.NothingToDo) void vscode.window.showInformationMessage(thrown.message);
        else void vscode.window.showErrorMessage(`Caveman: ${said(thrown)}`);
        return undefined;
      } finally {
        status.show();
      }
    });
  const compress = async (source: sources.Source): Promise<CompressResult> => {
    const result = await inProgress(`Shortening ${source.name}`, () =>
      engine.use((caveman) => caveman.compress(source.payload)),
    );
    void present(source, result);
    return result;
  };

  context.subscriptions.push(
    status,
    { dispose: () => engine.close() },
    command("compressSelection", async () => compress(sources.selection())),
    command("compressFile", async (uri?: vscode.Uri) => compress(await sources.file(uri))),
    command("compressTerminal", async () => compress(await sources.terminal())),
    command("retrieve", async (given?: string) => {
      const reference = typeof given === "string" ? given : await sources.reference();
      if (reference) await vscode.window.showTextDocument(documentUri(findReference(reference) ?? reference));
    }),
    command("forget", async () => {
      const yes = "Forget All";
      const detail = "Texts that were shortened here keep their references, which will lead nowhere.";
      const question = `Delete ${hook.count} originals?`;
      const answer = await vscode.window.showWarningMessage(question, { modal: true, detail }, yes);
      if (answer === yes) await engine.use((caveman) => caveman.clear());
    }),
    vscode.workspace.registerFileSystemProvider(
      SCHEME,
      new Originals((reference) => engine.use((caveman) => caveman.retrieve(reference))),
      { isReadonly: true, isCaseSensitive: true },
    ),
    vscode.window.tabGroups.onDidChangeTabs(({ opened }) => opened.forEach((tab) => void putRight(tab))),
    vscode.languages.registerDocumentLinkProvider({ pattern: "**" }, new Links()),
    ...toolNames(context).map((name) => vscode.lm.registerTool<object>(name, new ModelTool(name, engine))),
  );
  void hook.open({ maxBytes: MAX_BYTES }).then(
    () => status.show(),
    (thrown: unknown) => status.fail(said(thrown)),
  );
}

/** What package.json offers to language models, which a test holds equal to the table of tools. */
const toolNames = ({ extension }: vscode.ExtensionContext): string[] => {
  const { contributes } = extension.packageJSON as { contributes: { languageModelTools: { name: string }[] } };
  return contributes.languageModelTools.map(({ name }) => name);
};

class ModelTool implements vscode.LanguageModelTool<object> {
  readonly #name: string;
  readonly #engine: Engine;

  constructor(name: string, engine: Engine) {
    this.#name = name;
    this.#engine = engine;
  }

  /** Errors are an answer too, for the model to read: what is thrown would reach it without its code. */
  async invoke(called: vscode.LanguageModelToolInvocationOptions<object>): Promise<vscode.LanguageModelToolResult> {
    const { input, toolInvocationToken } = called;
    const session = JSON.stringify(toolInvocationToken) ?? ""; // opaque, but its conversation's own
    const text = await this.#engine.use((caveman) => this.#answer(caveman, input, session)).catch(said);
    return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(text)]);
  }

  async #answer({ tools }: Caveman, input: object, session: string): Promise<string> {
    const { text, error } = await tools.find(({ name }) => name === this.#name)!.call(input, { session });
    if (error === "cave_worker_lost") throw new CavemanError(error, text); // so that Python is started anew
    return text;
  }
}

/** The short text beside its source, and what became of it. */
async function present(source: sources.Source, result: CompressResult): Promise<void> {
  const { text, recoveryHandle, reason, error, tokensBefore, tokensAfter } = result;
  if (!recoveryHandle) {
    const because = error ? `${reason}: ${error}` : reason;
    const show = error ? vscode.window.showWarningMessage : vscode.window.showInformationMessage;
    return void show(`Caveman: ${source.name} stays as it is (${because}).`);
  }
  const language = source.language && { language: source.language };
  const document = await vscode.workspace.openTextDocument({ content: text, ...language });
  await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside });
  const copy = "Copy";
  const open = "Open Original";
  const count = `${tokensBefore.toLocaleString("en")} → ${tokensAfter.toLocaleString("en")} tokens (estimates)`;
  const message = `Caveman: ${source.name}, ${count}. The original is kept.`;
  const choice = await vscode.window.showInformationMessage(message, copy, open);
  if (choice === copy) await vscode.env.clipboard.writeText(text);
  if (choice === open) await vscode.window.showTextDocument(documentUri(recoveryHandle));
}

const inProgress = <T>(title: string, work: () => Promise<T>): Thenable<T> =>
  vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title }, work);

/** How many originals are held. */
class Status implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem("caveman.count", vscode.StatusBarAlignment.Right);
  readonly #hook: FolderHook;

  constructor(hook: FolderHook) {
    this.#hook = hook;
    this.#item.name = "Caveman: originals held";
    this.#item.command = "caveman.retrieve";
  }

  show(): void {
    const { count } = this.#hook;
    this.#item.text = `$(archive) ${count}`;
    const originals = count === 1 ? "original" : "originals";
    this.#item.tooltip = `Caveman holds ${count} ${originals} for this workspace. Click to retrieve one.`;
    this.#item.accessibilityInformation = { label: `Caveman: ${count} originals held` };
    this.#item.show();
  }

  fail(message: string): void {
    this.#item.text = "$(archive) $(warning)";
    this.#item.tooltip = `Caveman cannot store originals here, so it shortens nothing: ${message}`;
    this.#item.show();
  }

  dispose(): void {
    this.#item.dispose();
  }
}
