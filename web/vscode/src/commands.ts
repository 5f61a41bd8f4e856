/** Where the commands take a payload or a reference from: editors, files, the terminal, the clipboard. */

import * as vscode from "vscode";
import { findReference } from "./documents.js";

/** A payload with the name that messages call it by, and the language that its short text is shown in. */
export interface Source {
  readonly payload: string | Uint8Array;
  readonly name: string;
  readonly language?: string;
}

/** What a person can set right. */
export class NothingToDo extends Error {}

export function selection(): Source {
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.selection.isEmpty) throw new NothingToDo("Select some text in an editor first.");
  const { document } = editor;
  return { payload: document.getText(editor.selection), name: "the selection", language: document.languageId };
}

/** The file that a menu was opened on, or the active editor's: its bytes, or what the editor holds of it unsaved. */
export async function file(from?: vscode.Uri): Promise<Source> {
  const uri = from ?? vscode.window.activeTextEditor?.document.uri;
  if (!uri) throw new NothingToDo("Open a file first, or use the menu of one in the Explorer.");
  const document = vscode.workspace.textDocuments.find((open) => open.uri.toString() === uri.toString());
  const name = uri.path.split("/").at(-1)!;
  const language = document && { language: document.languageId };
  if (document && (document.isDirty || document.isUntitled)) return { payload: document.getText(), name, ...language };
  return { payload: await vscode.workspace.fs.readFile(uri), name, ...language };
}

/**
 * What is selected in the active terminal, else all that it shows. No API reads a terminal: its text comes by way of
 * the clipboard, which is put back.
 */
export async function terminal(): Promise<Source> {
  if (!vscode.window.activeTerminal) throw new NothingToDo("Open a terminal first.");
  const { clipboard } = vscode.env;
  const before = await clipboard.readText();
  try {
    const selected = await terminalText("copySelection");
    const payload = selected || (await terminalText("selectAll", "copySelection", "clearSelection"));
    if (!payload) throw new NothingToDo("The terminal is empty.");
    return { payload, name: "the terminal's output" };
  } finally {
    await clipboard.writeText(before);
  }
}

async function terminalText(...steps: string[]): Promise<string> {
  await vscode.env.clipboard.writeText("");
  for (const step of steps) await vscode.commands.executeCommand(`workbench.action.terminal.${step}`);
  return vscode.env.clipboard.readText();
}

/** The reference at the cursor or in the selection, else what the user types; undefined if that is nothing. */
export async function reference(): Promise<string | undefined> {
  const editor = vscode.window.activeTextEditor;
  const { document, selection: chosen } = editor ?? {};
  const near = chosen?.isEmpty ? document?.lineAt(chosen.active).text : document?.getText(chosen);
  const found = findReference(near ?? "");
  if (found) return found;
  const typed = await vscode.window.showInputBox({
    title: "Retrieve Original",
    prompt: "A reference: ccr_… or ccr://ccr_…, with a selector (#/orders/3, #line=10,20) if you like",
    validateInput: (text) => (findReference(text) ? undefined : "No reference: ccr_ and 32 hex digits"),
  });
  return typed === undefined ? undefined : findReference(typed);
}
