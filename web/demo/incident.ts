/** The recorded incident: five tools' outputs, and a scripted agent that reads them as it must. */

import { type Caveman } from "../src/index.js";

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly file: string;
}

/** What the tools said when the incident was recorded (make_incident.py). */
export const TOOLS: readonly Tool[] = [
  { name: "search_logs", description: "The log of the refund service this morning.", file: "refunds.log" },
  { name: "list_deploys", description: "All deploys of the last four days, as JSON.", file: "deploys.json" },
  { name: "show_commit", description: "The diff of commit 9f3c1ab.", file: "9f3c1ab.diff" },
  { name: "query_latency", description: "Latency of the card issuers, minute by minute, as CSV.", file: "latency.csv" },
  { name: "list_failed_refunds", description: "The refunds that failed, as JSON.", file: "failed.json" },
];

export async function recorded(tool: string): Promise<string> {
  const { file } = TOOLS.find(({ name }) => name === tool)!;
  return (await fetch(`samples/incident/${file}`)).text();
}

/** What a tool's output becomes on its way into the context. */
export async function shortened(
  caveman: Caveman,
  output: string,
  question: string,
): Promise<{ text: string; handle: string | null }> {
  const { text, recoveryHandle } = await caveman.compress(output, { query: question });
  return { text, handle: recoveryHandle };
}

export const SYSTEM =
  "You are on call. Use the tools to find out what is wrong; answer in one short paragraph. Shortened outputs name a " +
  "reference: when you need what was left out, pass it to caveman_retrieve with a question.";
export const REQUEST = "Customers say that refunds fail since this morning. Why, since when, and what should we do? And how much is ref-104777 about?";

export type Facts = Readonly<Record<string, string>>;

export interface Step {
  readonly tool: string;
  /** The tool is not called again: the agent looks into what it said before. */
  readonly again?: true;
  /** What the agent wants to know: it goes with the call, and to caveman_retrieve if the text does not say it. */
  readonly question: string;
  /** Reads the answer off a text, given what is known so far; undefined when it does not say. */
  read(text: string, known: Facts): Facts | undefined;
}

const matched = (text: string, pattern: RegExp): Facts | undefined => pattern.exec(text)?.groups;

/** A model reads; this agent has patterns. It knows nothing else: what no text in its context says, it cannot answer. */
export const STEPS: readonly Step[] = [
  {
    tool: "search_logs",
    question: "first refund that failed, ERROR, and why",
    read: (text) => matched(text, /^(?<since>\S+) ERROR .* failed: issuer (?<issuer>\w+) did not answer/m),
  },
  {
    tool: "list_deploys",
    question: "payments deploy on 2026-03-14",
    read: (text) => {
      const found = text.match(/\{[^{}]*"payments"[^{}]*\}/g)?.find((row) => row.includes("2026-03-14T09"));
      return found === undefined
        ? undefined
        : { ...matched(found, /"version": *"(?<version>[^"]+)"/), ...matched(found, /"commit": *"(?<commit>[^"]+)"/) };
    },
  },
  {
    tool: "show_commit",
    question: "issuer_timeout_ms",
    read: (text) => matched(text, /^-\s*issuer_timeout_ms: (?<old>\d+)\n\+\s*issuer_timeout_ms: (?<now>\d+)/m),
  },
  {
    tool: "query_latency",
    question: "northbank highest p99_ms",
    read: (text, { issuer }) => {
      const took = [...text.matchAll(/^[^,\n]+,(\w+),\d+,\d+,(\d+)\r?$/gm)].filter((row) => row[1] === issuer);
      return took.length ? { slowest: String(Math.max(...took.map((row) => Number(row[2])))) } : undefined;
    },
  },
  {
    tool: "list_failed_refunds",
    question: "failed_total",
    read: (text) => matched(text, /"failed_total": *(?<failed>\d+)/),
  },
  {
    tool: "list_failed_refunds",
    again: true,
    question: "ref-104777",
    read: (text) => matched(text, /"ref-104777"[^{}]*"amount": *"(?<amount>[^"]+)"/),
  },
];

export const answer = ({ since, issuer, version, commit, old, now, slowest, failed, amount }: Facts): string =>
  `Refunds at ${issuer} fail since ${since}: payments ${version} (${commit}) lowered issuer_timeout_ms from ${old} to ` +
  `${now}, and ${issuer} takes up to ${slowest} ms. ${failed} refunds failed. Roll ${commit} back and retry them. ` +
  `ref-104777 is about ${amount} EUR.`;
