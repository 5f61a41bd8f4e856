/** Payloads as bytes and back: any string, lone surrogates included, survives the way. */

import { CavemanError, invalidArguments } from "./errors.js";

export type Payload = string | Uint8Array | ArrayBuffer | SharedArrayBuffer | Blob;

/** Bytes; the same limit as the engine's. Larger input is refused, never cut. */
export const MAX_PAYLOAD = 64 * 1024 * 1024;

const kindOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

const checkSize = (size: number): void => {
  if (size > MAX_PAYLOAD) {
    throw new CavemanError(
      "cave_input_too_large",
      `The payload has ${size} bytes or more; ${MAX_PAYLOAD} are the limit. Nothing was stored; split it and try again.`,
    );
  }
};

/**
 * The payload's bytes in a buffer that may be transferred: the caller's stays as it is, unless `give` says that it
 * need not (a shared one is copied all the same).
 *
 * Rejects with `cave_invalid_arguments` for any other type, `cave_input_too_large` over 64 MiB.
 */
export async function payloadBytes(payload: Payload, give = false): Promise<Uint8Array<ArrayBuffer>> {
  if (typeof payload === "string") {
    checkSize(payload.length); // a code unit takes at least a byte
    const bytes = encodeText(payload);
    checkSize(bytes.length);
    return bytes;
  }
  switch (kindOf(payload)) {
    case "Uint8Array":
      return owned(payload as Uint8Array, give);
    case "ArrayBuffer":
    case "SharedArrayBuffer":
      return owned(new Uint8Array(payload as ArrayBuffer), give);
    case "Blob":
    case "File":
      checkSize((payload as Blob).size);
      return blobBytes(payload as Blob);
    default:
      throw invalidArguments(
        `A payload is a string, Uint8Array, (Shared)ArrayBuffer or Blob, not ${kindOf(payload)}. Pass the tool's output itself.`,
      );
  }
}

function owned(bytes: Uint8Array, give: boolean): Uint8Array<ArrayBuffer> {
  checkSize(bytes.byteLength);
  const takes = give && kindOf(bytes.buffer) === "ArrayBuffer";
  return takes ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}

async function blobBytes(blob: Blob): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return new Uint8Array(await blob.arrayBuffer());
  } catch {
    throw invalidArguments("The Blob could not be read; the file behind it may have changed. Pick it again.");
  }
}

/** UTF-8, and a lone surrogate as the three bytes that Python's `surrogatepass` gives it. */
export function encodeText(text: string): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  if (text.isWellFormed()) return encoder.encode(text) as Uint8Array<ArrayBuffer>;
  const pieces = text.split(/(\p{Surrogate})/u).map((piece) => {
    const unit = piece.charCodeAt(0);
    return piece.isWellFormed()
      ? encoder.encode(piece)
      : Uint8Array.of(0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f));
  });
  const bytes = new Uint8Array(pieces.reduce((size, piece) => size + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/**
 * Bytes as a string: UTF-16 behind its BOM, else UTF-8; what is neither becomes U+FFFD, a UTF-8 BOM stays.
 * With `surrogates`, which a payload that was a string may hold, the inverse of `encodeText`.
 */
export function decodeText(bytes: Uint8Array, surrogates: boolean): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  return surrogates ? decodeSurrogates(bytes) : new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

function decodeSurrogates(bytes: Uint8Array): string {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const parts: string[] = [];
  let start = 0;
  for (let at = bytes.indexOf(0xed); at >= 0; at = bytes.indexOf(0xed, at + 1)) {
    const [second = 0, third = 0] = bytes.subarray(at + 1, at + 3);
    if (second < 0xa0 || second > 0xbf || third < 0x80 || third > 0xbf) continue;
    const unit = 0xd000 | ((second & 0x3f) << 6) | (third & 0x3f);
    parts.push(decoder.decode(bytes.subarray(start, at)), String.fromCharCode(unit));
    start = at + 3;
  }
  parts.push(decoder.decode(bytes.subarray(start)));
  return parts.join("");
}
