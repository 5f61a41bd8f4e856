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
  readonly binarySearch: (bytes: Uint8Array) => number;
  readonly bytePairNonUtfSortedEncoder: readonly (readonly [Uint8Array, number])[];
}

/** gpt-tokenizer's o200k_base, less two slips that make it count other than the reference does. */
function exactCount(): (text: string) => number {
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
  return (text) => {
    inside.tokenSplitRegex = /[\u0085\ufeff]/.test(text) ? exact : params.tokenSplitRegex;
    return core.countNative(text);
  };
}

let count: ((text: string) => number) | undefined;

/** Ordinary encoding: `<|endoftext|>` in a payload is text like any other. */
export const o200k: Counter = {
  name: "o200k_base",
  prepare: () => void (count ??= exactCount()),
  count: (utf8) => (count ??= exactCount())(new TextDecoder("utf-8", { ignoreBOM: true }).decode(utf8)),
};
