/** The counter that the page hands to the engine. */

import { O200KBase } from "gpt-tokenizer/encodingParams/o200k_base";
import vocabulary from "../build/o200k_base.txt"; // written by vocabulary.mjs

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

/** Tokens of a text. */
type Count = (text: string) => number;

/** The rank of the token of these bytes; Infinity where there is none. */
type Rank = (bytes: Uint8Array, start: number, end: number) => number;

const SLOTS = 1 << 19; // more than twice as many as tokens

/** The vocabulary as one table of hashes: 200,000 strings in a Map take longer to make, and more memory. */
function ranksOf(vocabulary: string): Rank {
  const bytes = new Uint8Array(vocabulary.length);
  const starts = new Uint32Array(SLOTS / 2);
  const slots = new Int32Array(SLOTS); // each a token's rank and one
  const slotOf = (of: Uint8Array, start: number, end: number): number => {
    let hash = 0;
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ of[at]!, 0x01000193);
    return (hash ^ (hash >>> 13)) & (SLOTS - 1);
  };
  let [tokens, size] = [0, 0];
  for (let at = 0; at < vocabulary.length; ) {
    const start = size;
    const end = at + 1 + vocabulary.charCodeAt(at) - 48;
    while (++at < end) bytes[size++] = vocabulary.charCodeAt(at);
    let slot = slotOf(bytes, start, size);
    while (slots[slot]) slot = (slot + 1) & (SLOTS - 1);
    starts[tokens++] = start;
    slots[slot] = tokens;
  }
  starts[tokens] = size;
  return (of, start, end) => {
    const length = end - start;
    for (let slot = slotOf(of, start, end); slots[slot]; slot = (slot + 1) & (SLOTS - 1)) {
      const rank = slots[slot]! - 1;
      const first = starts[rank]!;
      if (starts[rank + 1]! - first !== length) continue;
      let same = 0;
      while (same < length && bytes[first + same] === of[start + same]) same++;
      if (same === length) return rank;
    }
    return Infinity;
  };
}

/** How many tokens byte pair encoding leaves of a piece: the two neighbours of the lowest rank become one, the first of equals first. */
function merged(piece: Uint8Array, size: number, rank: Rank): number {
  const ends = [1];
  const ranks: number[] = []; // of each with the next
  for (let end = 2; end <= size; end++) {
    ends.push(end);
    ranks.push(rank(piece, end - 2, end));
  }
  for (;;) {
    let least = Infinity;
    let at = -1;
    for (let here = 0; here < ranks.length; here++) if (ranks[here]! < least) least = ranks[(at = here)]!;
    if (at < 0) return ends.length;
    ends.splice(at, 1);
    ranks.splice(at, 1);
    if (at < ranks.length) ranks[at] = rank(piece, ends[at - 1] ?? 0, ends[at + 1]!);
    if (at > 0) ranks[at - 1] = rank(piece, ends[at - 2] ?? 0, ends[at]!);
  }
}

// The tokenizer's pattern where no letter is beyond ASCII.
const ASCII_PIECES =
  /[^\r\nA-Za-z0-9]?(?:[A-Z]*[a-z]+|[A-Z]+)(?:'(?:[sStTmMdD]|[rRvV][eE]|[lL][lL]))?|[0-9]{1,3}| ?[^\sA-Za-z0-9]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+/g;
const { tokenSplitRegex: PIECES } = O200KBase([]);

// White space is Unicode's in the reference; JavaScript's lacks U+0085 and has U+FEFF. The true class is half as fast.
const SPACE = String.raw`\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000`;
const EXACT_PIECES = new RegExp(
  PIECES.source
    .replace(String.raw`[^\s`, `[^${SPACE}`)
    .replaceAll(String.raw`\s`, `[${SPACE}]`)
    .replaceAll(String.raw`\S`, `[^${SPACE}]`),
  "gu",
);

/** What was counted, until somebody forgets it. */
type Known = Map<string, number>;
const REMEMBERED = 1 << 16; // in each

function remember(known: Known, text: string, tokens: number): number {
  if (known.size < REMEMBERED) known.set(text, tokens);
  return tokens;
}

/** o200k_base's count, remembering pieces that are no token: the words of many scripts, and runs of those without blanks. */
function exactCount(known: Known): Count {
  const rank = ranksOf(vocabulary);
  const encoder = new TextEncoder();
  let utf8 = new Uint8Array(1024);
  const encode = (piece: string): number => {
    if (utf8.length < piece.length * 3) utf8 = new Uint8Array(piece.length * 3);
    for (let at = 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at);
      if (code > 0x7f) return encoder.encodeInto(piece, utf8).written;
      utf8[at] = code;
    }
    return piece.length;
  };
  return (text) => {
    const pattern = !/[^\0-\x7f]/.test(text) ? ASCII_PIECES : /[\u0085\ufeff]/.test(text) ? EXACT_PIECES : PIECES;
    let total = 0;
    for (const piece of text.match(pattern) ?? []) {
      const size = encode(piece);
      if (rank(utf8, 0, size) < Infinity) total++;
      else total += known.get(piece) ?? remember(known, piece, merged(utf8, size, rank));
    }
    return total;
  };
}

// Whole pieces of the tokenizer's pattern, a few at a time: simpler patterns than its own, and fewer pieces to look up.
// Between an ASCII letter or digit and what is neither no piece goes on, unless an apostrophe or another script follows
// (tokens.py has the same two, and a test holds the counts equal).
const ASCII_CHUNKS = /[^A-Za-z0-9]*(?:[A-Za-z]+(?:'[A-Za-z]+)*|[0-9]{1,3})|[^A-Za-z0-9]+/g;
const CHUNKS =
  /[^A-Za-z0-9]*[A-Za-z0-9]+(?:(?=['\x80-\uffff])[^A-Za-z0-9]*[A-Za-z0-9]+)*(?:(?=['\x80-\uffff])[^A-Za-z0-9]+)?|[^A-Za-z0-9]+/g;
const BLOCK = 4096; // characters looked at for what is not ASCII

/** Counts by chunks, remembering them. */
function chunkCount(known: Known, pieces: Known): Count {
  const exact = exactCount(pieces);
  const countChunk = (chunk: string): number => known.get(chunk) ?? remember(known, chunk, exact(chunk));
  return (text) => {
    let total = 0;
    for (let start = 0; start < text.length; ) {
      const stop = safeCut(text, start + BLOCK);
      const block = text.slice(start, stop);
      for (const chunk of block.match(/[^\0-\x7f]/.test(block) ? CHUNKS : ASCII_CHUNKS) ?? []) total += countChunk(chunk);
      start = stop;
    }
    return total;
  };
}

/** The first place from `at` on where counts add up, or the text's end. */
function safeCut(text: string, at: number): number {
  SAFE.lastIndex = at;
  return at < text.length && SAFE.test(text) ? SAFE.lastIndex : text.length;
}
const SAFE = /[A-Za-z0-9](?=[^A-Za-z0-9'\x80-\uffff])/g;

const known: Known = new Map();
const pieces: Known = new Map();
let count: Count | undefined;
const counting = (): Count => (count ??= chunkCount(known, pieces));

/** Forgets what was counted, for who measures counting; the product never does. */
export function forgetCounted(): void {
  known.clear();
  pieces.clear();
}

/** Ordinary encoding: `<|endoftext|>` in a payload is text like any other. */
export const o200k: Counter = {
  name: "o200k_base",
  prepare: () => void counting(),
  count: (utf8) => counting()(new TextDecoder("utf-8", { ignoreBOM: true }).decode(utf8)),
};
