/** The demo page. It uses the package as any page would; whatever a payload holds reaches the DOM as text only. */

import { CavemanError, createCaveman, type Caveman, type CompressResult, type Marker } from "../src/index.js";

/** More than this of a payload is not put into the page: it would only make it slow. */
const SHOWN = 200_000;

/** Why a text came back as it was, for a person. */
const REASONS: Record<string, string> = {
  too_small: "Too small to be worth it: passed through as it was",
  binary: "This does not look like text: passed through as it was",
  unknown_type: "No format is known for this: passed through as it was",
  not_parseable: "It is not what it looked like: passed through as it was",
  not_smaller: "Nothing could be left out that would have made it shorter: passed through as it was",
  already_compressed: "This is a shortened text already: passed through as it was",
  retrieved: "These bytes were just brought back, so somebody wants to read them: passed through as they are",
  store_failed: "The original could not be kept, so nothing was left out",
  over_budget: "This is the smallest honest text; it is over the ceiling",
};

function element<E extends HTMLElement>(id: string): E {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element ${id}`);
  return found as E;
}

const status = element("status");
const payload = element<HTMLTextAreaElement>("payload");
const payloadNote = element("payload-note");
const query = element<HTMLInputElement>("query");
const question = element<HTMLInputElement>("question");
const proof = element("proof");
const original = element("original");
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const number = (value: number): string => value.toLocaleString("en");

/** A picked file is compressed as the bytes it has; typing replaces it. */
let picked: Blob | undefined;
let current: { readonly bytes: Uint8Array; readonly handle: string } | undefined;

function say(state: "busy" | "ready" | "failed", text: string): void {
  status.dataset["state"] = state;
  status.textContent = text;
}

const explain = (thrown: unknown): string =>
  thrown instanceof CavemanError ? `${thrown.message} (${thrown.code})` : String(thrown);

/** Runs one action of the person's, telling when it fails. */
async function attempt(doing: string, action: () => Promise<void>): Promise<void> {
  say("busy", doing);
  try {
    await action();
    say("ready", "Ready.");
  } catch (thrown) {
    say("failed", explain(thrown));
  }
}

// ---------------------------------------------------------------- payload

function choose(blob: Blob | undefined, text: string, note: string): void {
  picked = blob;
  payload.value = text.length > SHOWN ? text.slice(0, SHOWN) : text;
  payloadNote.textContent = text.length > SHOWN ? `${note} The beginning is shown; all of it will be used.` : note;
}

async function chooseSample(button: HTMLButtonElement): Promise<void> {
  const name = button.dataset["sample"] ?? "";
  const blob = await (await fetch(`samples/${name}`)).blob();
  choose(blob, await blob.text(), `${name}, ${number(blob.size)} bytes.`);
  markChosen(button);
}

function markChosen(chosen: HTMLButtonElement | undefined): void {
  for (const button of document.querySelectorAll("[data-sample]")) {
    button.setAttribute("aria-pressed", String(button === chosen));
  }
}

// ---------------------------------------------------------------- result

function show(result: CompressResult): void {
  element("empty").hidden = true;
  element("result").hidden = false;
  element("before").textContent = number(result.tokensBefore);
  element("after").textContent = number(result.tokensAfter);
  element("saved").textContent = `${(result.ratio * 100).toFixed(1)} %`;
  element("type").textContent = result.contentType;
  element("basis").textContent = result.tokenCountBasis;
  element("bar").style.setProperty("--share", String(1 - Math.max(0, result.ratio)));
  const reason = element("reason");
  reason.hidden = result.reason === null;
  reason.textContent = [REASONS[result.reason ?? ""] ?? "", result.reason, result.error].filter(Boolean).join(" · ");
  element("text").replaceChildren(...pieces(result));
}

/** The text as it is, with markers set off and the handle made a button. */
function* pieces({ output, markers, recoveryHandle }: CompressResult): Generator<Node> {
  let at = 0;
  for (const marker of markers) {
    yield* linked(decoder.decode(output.subarray(at, marker.start)), recoveryHandle);
    yield setOff(decoder.decode(output.subarray(marker.start, marker.stop)), marker);
    at = marker.stop;
  }
  yield* linked(decoder.decode(output.subarray(at)), recoveryHandle);
}

function setOff(text: string, marker: Marker): Node {
  const mark = document.createElement("mark");
  mark.textContent = text;
  mark.title = `stands for ${number(marker.count)} ${marker.noun}`;
  return mark;
}

function* linked(text: string, handle: string | null): Generator<Node> {
  const at = handle === null ? -1 : text.lastIndexOf(handle);
  if (handle === null || at < 0) {
    yield document.createTextNode(text.length > SHOWN ? `${text.slice(0, SHOWN)}\n(the rest is not shown here)` : text);
    return;
  }
  yield document.createTextNode(text.slice(0, at));
  const button = document.createElement("button");
  button.type = "button";
  button.className = "handle";
  button.textContent = handle;
  button.addEventListener("click", () => element("handle").click());
  yield button;
  yield document.createTextNode(text.slice(at + handle.length));
}

function showReturned(text: string, verdict: string, state: "exact" | "view" | "failed"): void {
  proof.dataset["state"] = state;
  proof.textContent = verdict;
  original.hidden = false;
  original.textContent = text.length > SHOWN ? `${text.slice(0, SHOWN)}\n(the rest is not shown here)` : text;
}

// ---------------------------------------------------------------- what a person does

async function compress(caveman: Caveman): Promise<void> {
  const blob = picked ?? new Blob([payload.value]);
  const asked = query.value.trim();
  const bytes = new Uint8Array(await blob.arrayBuffer());
  const result = await caveman.compress(blob, asked ? { query: asked } : {});
  const handle = result.recoveryHandle;
  current = handle === null ? undefined : { bytes, handle };
  show(result);
  element("recovery").hidden = handle === null;
  original.hidden = true;
  proof.textContent = "";
  element("handle").textContent = handle;
  element("result-title").focus();
}

async function bringBack(caveman: Caveman): Promise<void> {
  if (!current) return;
  const back = await caveman.retrieve(current.handle);
  const exact = back.length === current.bytes.length && back.every((byte, at) => byte === current?.bytes[at]);
  const verdict = exact
    ? `All ${number(back.length)} bytes came back, each the same as what went in.`
    : "The bytes differ from what went in.";
  showReturned(decoder.decode(back), verdict, exact ? "exact" : "failed");
}

async function ask(caveman: Caveman): Promise<void> {
  if (!current) return;
  const view = await caveman.retrieveText(current.handle, { query: question.value });
  showReturned(view, `The original, narrowed to “${question.value}”: ${number(view.length)} characters.`, "view");
}

function listen(caveman: Caveman): void {
  const on = (id: string, event: string, doing: string, action: (caveman: Caveman) => Promise<void>): void =>
    element(id).addEventListener(event, (fired) => {
      fired.preventDefault();
      void attempt(doing, () => action(caveman));
    });
  on("compress-form", "submit", "Shortening…", compress);
  on("handle", "click", "Fetching the original…", bringBack);
  on("ask-form", "submit", "Looking it up…", ask);
  element<HTMLButtonElement>("compress").disabled = false;
}

payload.addEventListener("input", () => {
  picked = undefined;
  payloadNote.textContent = "";
  markChosen(undefined);
});
element("file").addEventListener("change", (event) => {
  const file = (event.target as HTMLInputElement).files?.[0];
  if (!file) return;
  markChosen(undefined);
  void file.text().then((text) => choose(file, text, `${file.name}, ${number(file.size)} bytes, used as they are.`));
});
for (const button of document.querySelectorAll<HTMLButtonElement>("[data-sample]")) {
  button.addEventListener("click", () => {
    chooseSample(button).catch((thrown: unknown) => say("failed", explain(thrown)));
  });
}
await attempt("Starting Python…", async () => listen(await createCaveman()));
