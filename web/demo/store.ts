/** The store view: what is held, how full it is, export, import, clearing, and where records live. */

import { createCaveman, type Caveman } from "../src/index.js";
import { element, make, number, on, percent, size } from "./dom.js";

/** More rows than this are not listed. */
const LISTED = 100;
const REMEMBERED = "caveman-demo-persistence";

/** What the person chose before, on this device. */
function remembered(): "none" | "indexeddb" {
  return localStorage.getItem(REMEMBERED) === "indexeddb" ? "indexeddb" : "none";
}

export class StoreView {
  #caveman: Caveman | undefined;
  readonly #persist = element<HTMLInputElement>("persist");

  get caveman(): Caveman {
    if (!this.#caveman) throw new Error("Python has not started yet");
    return this.#caveman;
  }

  /** Starts the engine over the store that the switch says. */
  async start(): Promise<void> {
    this.#caveman?.close();
    this.#persist.checked = remembered() === "indexeddb";
    this.#caveman = await createCaveman({ persistence: remembered() });
    await this.refresh();
  }

  listen(): void {
    on("persist", "change", "Starting over the other store…", async () => {
      localStorage.setItem(REMEMBERED, element<HTMLInputElement>("persist").checked ? "indexeddb" : "none");
      await this.start();
    });
    on("export", "click", "Writing a bundle…", async () => save(await this.caveman.exportBundle()));
    on("import", "change", "Reading the bundle…", async () => {
      const input = element<HTMLInputElement>("import");
      const [file] = input.files ?? [];
      if (!file) return;
      const counts = await this.caveman.importBundle(file);
      input.value = "";
      await this.refresh();
      this.#note(`${counted(counts.records + counts.objects, "item")} read, ${number(counts.known)} of them were here before.`);
    });
    on("clear", "click", "Clearing…", async () => {
      if (!confirm("Delete every original that this store holds? Their handles stop working.")) return;
      await this.caveman.clear();
      await this.refresh();
      this.#note("Everything was deleted.");
    });
  }

  async refresh(): Promise<void> {
    const [stats, health, records] = await Promise.all([
      this.caveman.stats(),
      this.caveman.health(),
      this.caveman.records(),
    ]);
    const meter = element<HTMLMeterElement>("budget");
    meter.max = stats.maxStorageBytes;
    meter.high = stats.maxStorageBytes * 0.8;
    meter.value = stats.storageBytes;
    element("budget-text").textContent = `${size(stats.storageBytes)} of ${size(stats.maxStorageBytes)} used`;
    element("held").textContent =
      `${counted(stats.records, "record")}, ${counted(stats.objects, "object")}; ` +
      `${number(stats.tokensBefore - stats.tokensAfter)} tokens saved so far (${percent(stats.ratio)}, inferred)`;
    const state: [string, string][] = [
      ["records live", health.persistence === "none" ? "as long as this page" : "in IndexedDB, until you clear them"],
      ["written", health.durability === "strict" ? "before a result is shown" : "to memory only"],
      ["browser may drop them", health.persistGranted === null ? "not asked" : health.persistGranted ? "no" : "yes, when space is short"],
      ["browser's quota", health.quota === null ? "unknown" : `${size(health.usage ?? 0)} of ${size(health.quota)} used`],
      ["started from", health.snapshot ? "a memory snapshot" : "Python’s files"],
      ["Pyodide", health.pyodide],
    ];
    element("health").replaceChildren(...state.map(([term, said]) => make("div", {}, make("dt", {}, term), make("dd", {}, said))));
    const rows = [...records].sort((a, b) => b.bytes - a.bytes).slice(0, LISTED);
    element("records").replaceChildren(
      ...rows.map(({ id, bytes, tokensBefore, tokensAfter }) =>
        make(
          "tr",
          {},
          make("th", { scope: "row" }, id),
          make("td", {}, size(bytes)),
          make("td", {}, number(tokensBefore)),
          make("td", {}, number(tokensAfter)),
          make("td", {}, this.#forgetButton(id)),
        ),
      ),
    );
    element("records-note").textContent =
      records.length > LISTED ? `The ${LISTED} largest of ${number(records.length)}.` : records.length ? "" : "Nothing yet.";
    element<HTMLButtonElement>("export").disabled = element<HTMLButtonElement>("clear").disabled = records.length === 0;
    this.#note("");
  }

  #forgetButton(id: string): HTMLButtonElement {
    const button = make("button", { type: "button", class: "plain", "aria-label": `Forget ${id}` }, "forget");
    button.addEventListener("click", () => {
      void this.caveman
        .forget([id])
        .then(() => this.refresh())
        .then(() => this.#note(`${id} was deleted.`));
    });
    return button;
  }

  #note(text: string): void {
    element("store-note").textContent = text;
  }
}

const counted = (count: number, noun: string): string => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;

function save(bundle: Blob): Promise<void> {
  const url = URL.createObjectURL(bundle);
  const link = make("a", { href: url, download: "caveman.bundle" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  return Promise.resolve();
}
