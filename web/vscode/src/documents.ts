/**
 * Originals as read-only documents, `ccr://ccr_…/ccr_…#SELECTOR`: VS Code wants a path for the tab's name. A file
 * system rather than a content provider: it gives bytes, and a tab that was open is open again after a reload.
 */

import * as vscode from "vscode";
import { CavemanError } from "../../src/errors.js";

export const SCHEME = "ccr";

/** A reference as models and people write it: bare, `<<ccr:…>>` or `ccr://…`, with a selector or without. */
const REFERENCE = /(?:<<ccr:|ccr:\/\/)?(ccr_[0-9a-f]{32})(#[^\s"'`<>\\]*[^\s"'`<>\\.,;:!?)\]])?(?:>>)?/gi;

/** The first reference in a text, as `retrieve` takes it. */
export function findReference(text: string): string | undefined {
  const [match] = text.matchAll(REFERENCE);
  return match && named(match);
}

const named = ([, handle = "", selector = ""]: RegExpMatchArray): string => handle.toLowerCase() + selector;

export function documentUri(reference: string): vscode.Uri {
  const [handle = "", ...selector] = reference.replace(/^ccr:\/\//, "").split("#");
  return vscode.Uri.from({ scheme: SCHEME, authority: handle, path: `/${handle}`, fragment: selector.join("#") });
}

function referenceOf({ authority, path, fragment }: vscode.Uri): string {
  const handle = authority || path.replace(/^\//, "");
  return fragment ? `${handle}#${fragment}` : handle;
}

/**
 * A link outside of editors may be the bare reference, `ccr://ccr_…`. VS Code refuses a URI without a path before it
 * asks any file system, and shows that in a tab: the document takes its place.
 */
export async function putRight({ input, group }: vscode.Tab): Promise<void> {
  if (!(input instanceof vscode.TabInputText) || input.uri.scheme !== SCHEME) return;
  const reference = findReference(referenceOf(input.uri));
  const whole = reference && documentUri(reference);
  if (!whole || whole.toString() === input.uri.toString()) return;
  await vscode.commands.executeCommand("vscode.open", whole, group.viewColumn);
  const stale = group.tabs.find((tab) => tab.input instanceof vscode.TabInputText && tab.input.uri.toString() === input.uri.toString());
  if (stale) await vscode.window.tabGroups.close(stale);
}

/** Every reference in a document is a link to its original. */
export class Links implements vscode.DocumentLinkProvider {
  provideDocumentLinks(document: vscode.TextDocument): vscode.DocumentLink[] {
    return [...document.getText().matchAll(REFERENCE)].map((match) => {
      const [start, stop] = [match.index, match.index + match[0].length];
      const range = new vscode.Range(document.positionAt(start), document.positionAt(stop));
      return new vscode.DocumentLink(range, documentUri(named(match)));
    });
  }
}

export class Originals implements vscode.FileSystemProvider {
  /** Originals never change. */
  readonly onDidChangeFile = new vscode.EventEmitter<vscode.FileChangeEvent[]>().event;
  readonly #retrieve: (reference: string) => Promise<Uint8Array>;

  constructor(retrieve: (reference: string) => Promise<Uint8Array>) {
    this.#retrieve = retrieve;
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const { length: size } = await this.readFile(uri);
    return { type: vscode.FileType.File, ctime: 0, mtime: 0, size, permissions: vscode.FilePermission.Readonly };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    try {
      return await this.#retrieve(referenceOf(uri));
    } catch (thrown) {
      // Not FileNotFound: for that VS Code has words of its own, and ours would not be shown.
      throw vscode.FileSystemError.Unavailable(said(thrown));
    }
  }

  watch = (): vscode.Disposable => new vscode.Disposable(() => {});
  readDirectory = readOnly;
  createDirectory = readOnly;
  writeFile = readOnly;
  delete = readOnly;
  rename = readOnly;
}

function readOnly(uri: vscode.Uri): never {
  throw vscode.FileSystemError.NoPermissions(uri);
}

/** An error's message and, of ours, its code. */
export const said = (thrown: unknown): string =>
  thrown instanceof CavemanError ? `${thrown.message} (${thrown.code})` : String((thrown as Error)?.message ?? thrown);
