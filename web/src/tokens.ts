/** The counter that the page hands to the engine. */

import { BytePairEncodingCore } from "gpt-tokenizer/BytePairEncodingCore";
import ranks from "gpt-tokenizer/bpeRanks/o200k_base";
import { O200KBase } from "gpt-tokenizer/encodingParams/o200k_base";

/**
 * Counts tokens. `count` gets UTF-8 (the engine has replaced what is none and has cut long unbroken runs, on
 * which a tokenizer can be quadratic) and returns a whole number. `name` is what results call their basis.
 */
export interface Counter {
  readonly name: string;
  count(utf8: Uint8Array): number;
  /** Loads what the first count would wait for; called while the engine starts. */
  prepare?(): void;
}

/** What of gpt-tokenizer 4.0.0 is not declared; the tests hold the counts equal to the other counters'. */
interface Inside {
  tokenSplitRegex: RegExp;
  getBpeRankFromBytes(bytes: Uint8Array): number | undefined;
  readonly bytePairStringRankEncoder: ReadonlyMap<string, number>;
  readonly binarySearch: (bytes: Uint8Array) => number;
  readonly bytePairNonUtfSortedEncoder: readonly (readonly [Uint8Array, number])[];
}

/** Tokens of a text; it remembers pieces that it has counted until it is told to forget them. */
interface Counting {
  (text: string): number;
  forget(): void;
}

/** gpt-tokenizer's o200k_base, less two slips that make it count other than the reference does, and faster where all is ASCII. */
function exactCount(): Counting {
  const params = O200KBase(ranks);
  const core = new BytePairEncodingCore(params);
  const inside = core as unknown as Inside;

  // It looks bytes up as text, and in decoding them loses a BOM at their beginning.
  const byText = inside.getBpeRankFromBytes.bind(core);
  inside.getBpeRankFromBytes = (bytes) =>
    bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
      ? inside.bytePairNonUtfSortedEncoder[inside.binarySearch(bytes)]?.[1]
      : byText(bytes);

  // White space is Unicode's in the reference; JavaScript's lacks U+0085 and has U+FEFF. The true class is half as fast.
  const space = String.raw`\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000`;
  const pattern = params.tokenSplitRegex.source
    .replace(String.raw`[^\s`, `[^${space}`)
    .replaceAll(String.raw`\s`, `[${space}]`)
    .replaceAll(String.raw`\S`, `[^${space}]`);
  const exact = new RegExp(pattern, "gu");
  const anyText = (text: string): number => {
    inside.tokenSplitRegex = /[\u0085\ufeff]/.test(text) ? exact : params.tokenSplitRegex;
    return core.countNative(text);
  };
  const counting = asciiCount(inside.bytePairStringRankEncoder, anyText);
  return Object.assign(counting, { forget: () => core.clearMergeCache() });
}

// The tokenizer's pattern where no letter is beyond ASCII, in which a piece's bytes are its characters.
const ASCII_PIECES =
  /[^\r\nA-Za-z0-9]?(?:[A-Z]*[a-z]+|[A-Z]+)(?:'(?:[sStTmMdD]|[rRvV][eE]|[lL][lL]))?|[0-9]{1,3}| ?[^\sA-Za-z0-9]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+/g;

/** Counts ASCII by looking up slices of the text itself, where the library encodes and decodes bytes for each; the rest by `others`. */
function asciiCount(ranks: ReadonlyMap<string, number>, others: (text: string) => number) {
  return (text: string): number => {
    if (/[^\0-\x7f]/.test(text)) return others(text);
    let total = 0;
    for (const piece of text.match(ASCII_PIECES) ?? []) total += ranks.has(piece) ? 1 : merged(piece, ranks);
    return total;
  };
}

/** How many tokens byte pair encoding leaves of a piece: the two neighbours of the lowest rank become one, the first of equals first. */
function merged(piece: string, ranks: ReadonlyMap<string, number>): number {
  const rank = (start: number, end: number): number => ranks.get(piece.slice(start, end)) ?? Infinity;
  const ends = [1];
  const costs: number[] = []; // of each with the next
  for (let end = 2; end <= piece.length; end++) {
    ends.push(end);
    costs.push(rank(end - 2, end));
  }
  for (;;) {
    let least = Infinity;
    let at = -1;
    for (let here = 0; here < costs.length; here++) if (costs[here]! < least) least = costs[(at = here)]!;
    if (at < 0) return ends.length;
    ends.splice(at, 1);
    costs.splice(at, 1);
    if (at < costs.length) costs[at] = rank(ends[at - 1] ?? 0, ends[at + 1]!);
    if (at > 0) costs[at - 1] = rank(ends[at - 2] ?? 0, ends[at]!);
  }
}

// Whole pieces of the tokenizer's pattern, a few at a time: simpler patterns than its own, and fewer pieces to look up.
// Between an ASCII letter or digit and what is neither no piece goes on, unless an apostrophe or another script follows
// (tokens.py has the same two, and a test holds the counts equal).
const ASCII_CHUNKS = /[^A-Za-z0-9]*(?:[A-Za-z]+(?:'[A-Za-z]+)*|[0-9]{1,3})|[^A-Za-z0-9]+/g;
const CHUNKS =
  /[^A-Za-z0-9]*[A-Za-z0-9]+(?:(?=['\x80-\uffff])[^A-Za-z0-9]*[A-Za-z0-9]+)*(?:(?=['\x80-\uffff])[^A-Za-z0-9]+)?|[^A-Za-z0-9]+/g;
const BLOCK = 4096; // characters looked at for what is not ASCII
const REMEMBERED = 1 << 16;

/** Counts by chunks, remembering what it has counted. */
function chunkCount(): Counting {
  const exact = exactCount();
  const known = new Map<string, number>();
  const countChunk = (chunk: string): number => {
    let tokens = known.get(chunk);
    if (tokens === undefined) {
      tokens = exact(chunk);
      if (known.size < REMEMBERED) known.set(chunk, tokens);
    }
    return tokens;
  };
  const counting = (text: string): number => {
    let total = 0;
    for (let start = 0; start < text.length; ) {
      const stop = safeCut(text, start + BLOCK);
      const block = text.slice(start, stop);
      for (const chunk of block.match(/[^\0-\x7f]/.test(block) ? CHUNKS : ASCII_CHUNKS) ?? []) total += countChunk(chunk);
      start = stop;
    }
    return total;
  };
  const forget = (): void => {
    known.clear();
    exact.forget();
  };
  return Object.assign(counting, { forget });
}

/** The first place from `at` on where counts add up, or the text's end. */
function safeCut(text: string, at: number): number {
  SAFE.lastIndex = at;
  return at < text.length && SAFE.test(text) ? SAFE.lastIndex : text.length;
}
const SAFE = /[A-Za-z0-9](?=[^A-Za-z0-9'\x80-\uffff])/g;

let count: Counting | undefined;

/** Forgets what was counted, for who measures counting; the product never does. */
export const forgetCounted = (): void => count?.forget();

/** Ordinary encoding: `<|endoftext|>` in a payload is text like any other. */
export const o200k: Counter = {
  name: "o200k_base",
  prepare: () => void (count ??= chunkCount()),
  count: (utf8) => (count ??= chunkCount())(new TextDecoder("utf-8", { ignoreBOM: true }).decode(utf8)),
};
