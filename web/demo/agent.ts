/** The agent's page: one incident, with and without Caveman, and with a model of the person's own. */

import { createCaveman, type Caveman } from "../src/index.js";
import { chart } from "./chart.js";
import { attempt, element, make, number, offerOffline, on, percent } from "./dom.js";
import { answer, recorded, REQUEST, shortened, STEPS, SYSTEM, type Facts } from "./incident.js";
import { listenToModels } from "./models.js";

/** One tool call, and what of it stands in the context from then on. */
interface Call {
  readonly call: string;
  readonly text: string;
  readonly tokens: number;
  readonly before: number;
}
interface Turn {
  readonly calls: readonly Call[];
  readonly found: Facts;
  /** Tokens of all that a model would be sent in the next turn. */
  readonly context: number;
}
interface Run {
  readonly turns: readonly Turn[];
  readonly answer: string;
}

/** The scripted agent. Without an engine it puts every output into its context as it is. */
async function run(caveman: Caveman, shorten: boolean): Promise<Run> {
  const count = async (text: string): Promise<number> => (await caveman.compress(text, { mode: "record" })).tokensBefore;
  let context = await count(SYSTEM + REQUEST);
  let known: Facts = {};
  const turns: Turn[] = [];
  const said = new Map<string, { text: string; handle: string | null }>();
  for (const { tool, again, question, read } of STEPS) {
    const calls: Call[] = [];
    if (!again) {
      const output = await recorded(tool);
      const result = shorten ? await shortened(caveman, output, question) : { text: output, handle: null };
      const call = `${tool}({"question": ${JSON.stringify(question)}})`;
      calls.push({ call, text: result.text, tokens: await count(call + result.text), before: await count(output) });
      said.set(tool, result);
    }
    const { text, handle } = said.get(tool)!;
    let found = read(text, known);
    if (!found && handle) {
      const view = await caveman.retrieveText(handle, { query: question });
      const call = `caveman_retrieve({"reference": "${handle}", "query": ${JSON.stringify(question)}})`;
      calls.push({ call, text: view, tokens: await count(call + view), before: await count(view) });
      found = read(view, known);
    }
    if (!found) throw new Error(`the agent found no answer in what ${tool} said`);
    known = { ...known, ...found };
    context += calls.reduce((sum, { tokens }) => sum + tokens, 0);
    turns.push({ calls, found, context });
  }
  return { turns, answer: answer(known) };
}

function show(plain: Run, short: Run): void {
  const contexts = (run: Run): number[] => run.turns.map(({ context }) => context);
  const [without, withIt] = [contexts(plain), contexts(short)];
  element("outcome").hidden = false; // the chart asks how wide it may be
  element("chart").replaceChildren(chart(without, withIt, Math.max(300, element("chart").clientWidth)));
  const sent = [without, withIt].map((sizes) => sizes.reduce((sum, context) => sum + context, 0)) as [number, number];
  element("totals").textContent =
    `Sent in all ${STEPS.length} turns: ${number(sent[0])} tokens without, ${number(sent[1])} with Caveman, ` +
    `${percent(1 - sent[1] / sent[0])} less (inferred). `;
  element("same").textContent =
    plain.answer === short.answer ? "Both agents gave the same answer, word for word." : "The answers differ.";
  element("answer").textContent = short.answer;
  element("turns").replaceChildren(...short.turns.map((turn, at) => shownTurn(turn, plain.turns[at]!, at + 1)));
}

function shownTurn({ calls, found, context }: Turn, plain: Turn, at: number): Node {
  const shownCalls = calls.map(({ call, text, tokens, before }) =>
    make(
      "details",
      {},
      make("summary", {}, make("code", {}, call), ` ${number(before)} tokens → ${number(tokens)} in the context`),
      make("pre", { tabindex: "0", role: "region", "aria-label": `What the agent read of ${call}` }, text),
    ),
  );
  const facts = Object.entries(found).map(([name, value]) => `${name}: ${value}`);
  return make(
    "li",
    {},
    make("strong", {}, `Turn ${at}`),
    make("span", { class: "note" }, ` context ${number(context)} tokens, without Caveman ${number(plain.context)}`),
    ...shownCalls,
    ...(calls.length ? [] : [make("p", { class: "note" }, "no call: it stood in the context already")]),
    make("p", { class: "note found" }, `learned ${facts.join(" · ")}`),
  );
}

await attempt("Starting Python…", async () => {
  const caveman = await createCaveman();
  on("run", "click", "Both agents are at work…", async () => show(await run(caveman, false), await run(caveman, true)));
  element<HTMLButtonElement>("run").disabled = false;
  listenToModels(caveman);
  offerOffline();
});
