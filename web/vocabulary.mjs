// Packs gpt-tokenizer's o200k_base for src/tokens.ts: one text is parsed sooner than 200,000 strings.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import ranks from "gpt-tokenizer/bpeRanks/o200k_base";

/** Writes the tokens in the order of their ranks: of each how many bytes it has, from "0" on, and the bytes, each as one character. */
export function packVocabulary(file) {
  const packed = Array.from(ranks, (token, rank) => {
    const bytes = Buffer.from(token); // of a hole it throws
    if (bytes.length > 207) throw new Error(`token ${rank} is too long`);
    return String.fromCharCode(48 + bytes.length) + bytes.toString("latin1");
  });
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, packed.join(""));
}
