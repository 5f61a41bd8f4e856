/** What all parts of the demo share. Whatever a payload holds reaches the DOM as text only. */

import { CavemanError, keepOffline } from "../src/index.js";

export function element<E extends HTMLElement>(id: string): E {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element ${id}`);
  return found as E;
}

/** A new element with attributes (`class`, `type`, …) and children; strings become text. */
export function make<T extends keyof HTMLElementTagNameMap>(
  tag: T,
  attributes: Readonly<Record<string, string>> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[T] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export const number = (value: number): string => value.toLocaleString("en");
export const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

/** Bytes for a person: 12.3 KB. */
export function size(bytes: number): string {
  const units = ["bytes", "KB", "MB", "GB"];
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return step === 0 ? `${bytes} bytes` : `${(bytes / 1000 ** step).toFixed(1)} ${units[step]}`;
}

export const explain = (thrown: unknown): string =>
  thrown instanceof CavemanError ? `${thrown.message} (${thrown.code})` : String(thrown);

export function say(state: "busy" | "ready" | "failed", text: string): void {
  const status = element("status");
  status.dataset["state"] = state;
  status.textContent = text;
}

/** Runs one action of the person's, telling when it fails. */
export async function attempt(doing: string, action: () => Promise<void>): Promise<void> {
  say("busy", doing);
  try {
    await action();
    say("ready", "Ready.");
  } catch (thrown) {
    say("failed", explain(thrown));
  }
}

/** Runs `action` on an event, once at a time. */
export function on(id: string, event: string, doing: string, action: () => Promise<void>): void {
  element(id).addEventListener(event, (fired) => {
    fired.preventDefault();
    void attempt(doing, action);
  });
}

/** The page's offer to keep the whole folder, demo and Python, on this device. */
export function offerOffline(): void {
  const button = element<HTMLButtonElement>("keep");
  const kept = (): void => {
    button.disabled = true;
    button.textContent = "Kept: both pages start without a network";
  };
  if (navigator.serviceWorker?.controller) kept();
  on("keep", "click", "Keeping the page…", () => keepOffline().then(kept));
}
