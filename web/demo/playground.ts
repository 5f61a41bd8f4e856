/** The playground: shorten a payload, see what went and what is said of it, bring it back. */

import { type Caveman, type CompressResult, type Marker } from "../src/index.js";
import { element, explain, make, number, on, percent, say, size } from "./dom.js";
import { shown } from "./spans.js";
import { Viewer, type Range } from "./viewer.js";

/** More than this of a payload is not put into the text area: it would only make it slow. */
const SHOWN = 200_000;
/** More facts than this are not listed at once. */
const LISTED = 200;

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

const payload = element<HTMLTextAreaElement>("payload");
const sample = element<HTMLSelectElement>("sample");
const query = element<HTMLInputElement>("query");
const ceiling = element<HTMLInputElement>("ceiling");
const question = element<HTMLInputElement>("question");
const selector = element<HTMLInputElement>("selector");
const proof = element("proof");
const returned = element("returned");
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** A picked file is compressed as the bytes it has; typing replaces it. */
let picked: Blob | undefined;
let current: { readonly bytes: Uint8Array; readonly handle: string } | undefined;
let markers: readonly Marker[] = [];

const about = (id: number): Node => {
  const marker = markers[id];
  return marker ? described(marker) : document.createTextNode("");
};
const before = new Viewer(element("original"), "The original; what the shorter text leaves out is dimmed", about, reveal);
const after = new Viewer(element("text"), "The shorter text, markers set off", about, reveal);

// ---------------------------------------------------------------- payload

function choose(blob: Blob | undefined, text: string, note: string): void {
  picked = blob;
  payload.value = text.length > SHOWN ? text.slice(0, SHOWN) : text;
  element("payload-note").textContent =
    text.length > SHOWN ? `${note} The beginning is shown; all of it will be used.` : note;
}

async function chooseSample(): Promise<void> {
  if (!sample.value) return;
  const blob = await (await fetch(`samples/${sample.value}`)).blob();
  query.value = sample.selectedOptions[0]?.dataset["query"] ?? "";
  choose(blob, await blob.text(), `${sample.value}, ${number(blob.size)} bytes.`);
}

async function chooseFile(file: File | undefined): Promise<void> {
  if (!file) return;
  sample.value = "";
  choose(file, await file.text(), `${file.name}, ${number(file.size)} bytes, used as they are.`);
}

// ---------------------------------------------------------------- result

function show(result: CompressResult, bytes: Uint8Array): void {
  element("result").hidden = false;
  element("before").textContent = number(result.tokensBefore);
  element("after").textContent = number(result.tokensAfter);
  element("saved").textContent = percent(Math.max(0, result.ratio));
  element("type").textContent = result.contentType;
  element("basis").textContent = result.tokenCountBasis;
  element("bar-after").style.setProperty("--share", String(1 - Math.max(0, result.ratio)));
  const reason = element("reason");
  reason.hidden = result.reason === null;
  reason.textContent = [REASONS[result.reason ?? ""] ?? "", result.reason, result.error].filter(Boolean).join(" · ");
  ({ markers } = result);
  showSides(result, bytes);
  element("facts-title").textContent = markers.length === 1 ? "1 marker" : `${number(markers.length)} markers`;
  element("facts").replaceChildren(...listed());
}

function showSides({ output }: CompressResult, bytes: Uint8Array): void {
  const places = markers.flatMap(({ start, stop }) => [start, stop]);
  const short = shown(output, places);
  after.show(
    short.text,
    markers.map(({ start, stop }, id): Range => ({ from: short.at(start), to: short.at(stop), kind: "marker", id })),
  );
  const spans = apart(markers.flatMap((marker, id) => inPayload(marker).map(([from, to]) => ({ from, to, id }))));
  const whole = shown(bytes, spans.flatMap(({ from, to }) => [from, to]));
  before.show(
    whole.text,
    spans.map(({ from, to, id }): Range => ({ from: whole.at(from), to: whole.at(to), kind: "gone", id })),
  );
}

/** A marker in a decoded string has its spans there: of the payload it is the string. */
const inPayload = ({ spans, within }: Marker): readonly (readonly [number, number])[] => (within ? [within] : spans);

/** In order, each behind the one before: several markers may stand for parts of one string. */
function apart(spans: readonly { from: number; to: number; id: number }[]): { from: number; to: number; id: number }[] {
  let end = 0;
  return [...spans]
    .sort((a, b) => a.from - b.from)
    .flatMap(({ from, to, id }) => {
      const start = Math.max(from, end);
      end = Math.max(end, to);
      return start < to ? [{ from: start, to, id }] : [];
    });
}

function described({ count, noun, facts }: Marker): Node {
  const said = make("div", {}, make("strong", {}, `stands for ${number(count)} ${noun}`));
  if (facts.length) said.append(make("ul", {}, ...facts.map((fact) => make("li", {}, fact))));
  return said;
}

function* listed(): Generator<Node> {
  for (const [id, marker] of markers.slice(0, LISTED).entries()) {
    const button = make("button", { type: "button", class: "plain" }, `${number(marker.count)} ${marker.noun}`);
    button.addEventListener("click", () => reveal(id));
    const facts = marker.facts.map((fact) => make("span", { class: "fact" }, fact));
    yield make("li", {}, button, ...facts);
  }
  if (markers.length > LISTED) yield make("li", {}, `and ${number(markers.length - LISTED)} more`);
}

function reveal(id: number): void {
  before.reveal(id);
  after.reveal(id);
}

function showReturned(text: string, verdict: string, state: "exact" | "view" | "failed"): void {
  proof.dataset["state"] = state;
  proof.textContent = verdict;
  returned.hidden = false;
  returned.textContent = text.length > SHOWN ? `${text.slice(0, SHOWN)}\n(the rest is not shown here)` : text;
}

// ---------------------------------------------------------------- what a person does

async function compress(caveman: Caveman): Promise<void> {
  const blob = picked ?? new Blob([payload.value]);
  const asked = query.value.trim();
  const bytes = new Uint8Array(await blob.arrayBuffer());
  const options = { ...(asked ? { query: asked } : {}), ...(ceiling.value ? { maxTokens: Number(ceiling.value) } : {}) };
  const result = await caveman.compress(blob, options);
  const handle = result.recoveryHandle;
  current = handle === null ? undefined : { bytes, handle };
  show(result, bytes);
  element("recovery").hidden = handle === null;
  returned.hidden = true;
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

/** A selector is tried with every key: what it cannot mean is said beside it, not as a failure. */
async function select(caveman: Caveman): Promise<void> {
  const chosen = selector.value.trim();
  if (!current || !chosen) return;
  const note = element("selector-note");
  try {
    const slice = await caveman.retrieveText(`ccr://${current.handle}#${chosen.replace(/^#/, "")}`);
    note.textContent = `${size(new TextEncoder().encode(slice).length)}, exactly as they stand in the original.`;
    showReturned(slice, `The slice ${chosen}.`, "view");
  } catch (thrown) {
    note.textContent = explain(thrown);
  }
}

/** Wires the page to the engine that `engine` gives: the store view may have started another one. */
export function startPlayground(engine: () => Caveman, changed: () => Promise<void>): void {
  on("compress-form", "submit", "Shortening…", async () => {
    await compress(engine());
    await changed();
  });
  on("handle", "click", "Fetching the original…", () => bringBack(engine()));
  on("ask-form", "submit", "Looking it up…", () => ask(engine()));
  selector.addEventListener("input", () => void select(engine()));
  element<HTMLButtonElement>("compress").disabled = false;
}

payload.addEventListener("input", () => {
  picked = undefined;
  sample.value = "";
  element("payload-note").textContent = "";
});
const failed = (thrown: unknown): void => say("failed", explain(thrown));
sample.addEventListener("change", () => void chooseSample().catch(failed));
const file = element<HTMLInputElement>("file");
file.addEventListener("change", () => void chooseFile(file.files?.[0]).catch(failed));
const input = element("input");
input.addEventListener("dragover", (event) => event.preventDefault());
input.addEventListener("drop", (event) => {
  event.preventDefault();
  void chooseFile(event.dataTransfer?.files[0]).catch(failed);
});
