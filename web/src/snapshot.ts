/**
 * The memory snapshot that web/snapshot.mjs made: fetched, checked and unpacked, and put into a Python's memory.
 *
 * A page does the first for its worker, whose one thread is busy with linking when the bytes arrive.
 */

import type { Tell } from "./events.js";

/** What web/snapshot.mjs wrote beside the snapshot: what it was made with, and its own hash. */
export interface Made {
  readonly pyodide: string;
  /** SHA-256 of pyodide-lock.json, which names the wheel by its hash. */
  readonly lock: string;
  readonly sha256: string;
  /** How many bytes are sent, and how many of Pyodide's own come before the memory. */
  readonly packed: number;
  readonly head: number;
  /** How many bytes of memory it makes, and after how many of those all is zero when the WebAssembly begins. */
  readonly memory: number;
  readonly data: number;
}

/** As it was sent: its memory as `restore` takes it, and the SHA-256 of what it was unpacked from. */
export interface Snapshot {
  readonly sha256: string;
  readonly pieces: Uint8Array<ArrayBuffer>[];
}

export const fetchMade = async (url: URL): Promise<Made> => JSON.parse(text(await bytes(url))) as Made;

/**
 * From `folder`, whose snapshot is said to be as `made` tells; `tell` is told how much of it has arrived. What is wrong with it
 * is told by its hash, if unpacking does not fail already.
 */
export async function fetchSnapshot(folder: URL, made: Promise<Made>, tell: Tell): Promise<Snapshot> {
  const gunzip = new DecompressionStream("gzip");
  const packed = arriving(fetched(new URL("snapshot.bin", folder)), made, gunzip.writable.getWriter(), tell);
  const [pieces, hash] = await Promise.all([all(gunzip.readable), packed.then(sha256)]);
  return { sha256: hash, pieces };
}

/** Makes the memory as large as the snapshot's, and tells what it begins with; what follows is zero. */
export function beginning(own: WebAssembly.Memory, { memory, data }: Made): Uint32Array {
  const more = memory - own.buffer.byteLength;
  if (more > 0) own.grow(more / 65_536);
  return new Uint32Array(own.buffer.slice(0, data));
}

const PAGE = 1024;

/**
 * Makes `memory` the snapshot's, which is written as its difference from what was `first` there, of those pages that have
 * one (see snapshot.mjs). What is zero already is left alone: it takes no memory before it is written to.
 */
export function restore(take: Take, first: Uint32Array, memory: Uint8Array<ArrayBuffer>): void {
  const differs = take(new Uint8Array(memory.length / PAGE));
  for (let page = 0, end; page < differs.length; page = end) {
    for (end = page + 1; differs[end] === differs[page]; ) end++;
    const run = memory.subarray(page * PAGE, end * PAGE);
    if (differs[page]) take(run);
    else clear(new Uint32Array(run.buffer, run.byteOffset, run.length / 4));
  }
  const begun = new Uint32Array(memory.buffer, 0, first.length);
  for (let at = 0; at < first.length; at++) begun[at]! ^= first[at]!;
}

function clear(words: Uint32Array): void {
  for (let at = 0; at < words.length; at++) if (words[at] !== 0) words[at] = 0;
}

/** Fills `room` with what comes next. */
type Take = (room: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>;

export function taking(pieces: readonly Uint8Array[]): Take {
  let number = 0;
  let from = 0;
  return (room) => {
    for (let at = 0; at < room.length; ) {
      const part = pieces[number]!.subarray(from, from + room.length - at);
      room.set(part, at);
      at += part.length;
      from += part.length;
      if (from === pieces[number]!.length) [number, from] = [number + 1, 0];
    }
    return room;
  };
}

export const quiet = (): void => {};

async function fetched(url: URL): Promise<Response> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url.href}: ${response.status}`);
  return response;
}

export const bytes = async (url: URL): Promise<Uint8Array<ArrayBuffer>> => new Uint8Array(await (await fetched(url)).arrayBuffer());

/** What was sent, whole; each piece goes on to `unpacking` as it arrives. */
async function arriving(
  sent: Promise<Response>,
  made: Promise<Made>,
  unpacking: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>,
  tell: Tell,
): Promise<Uint8Array<ArrayBuffer>> {
  const [{ body }, { packed: total }] = await Promise.all([sent, made]);
  let loaded = 0;
  const pieces = await all(body!, (piece) => {
    unpacking.write(piece).catch(quiet); // who reads there is told
    tell("progress", { loaded: (loaded += piece.length), total });
  });
  unpacking.close().catch(quiet);
  return taking(pieces)(new Uint8Array(total));
}

/** All of a stream; `took` is told of each piece. */
async function all(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  took = quiet as (piece: Uint8Array<ArrayBuffer>) => void,
): Promise<Uint8Array<ArrayBuffer>[]> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    pieces.push(next.value);
    took(next.value);
  }
  return pieces;
}

export const text = (utf8: Uint8Array): string => new TextDecoder().decode(utf8);

export async function sha256(data: Uint8Array<ArrayBufferLike>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", data as Uint8Array<ArrayBuffer>));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
