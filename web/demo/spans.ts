/** Bytes as a person sees them, and where byte offsets stand in that text. */

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Line ends as an editor counts them: one character each. */
const lines = (text: string): string => text.replace(/\r\n?/g, "\n");

export interface Shown {
  readonly text: string;
  /** Byte offset → offset in `text`, for the offsets asked for. */
  at(offset: number): number;
}

/** The text of `bytes`, with the places of `offsets` in it. */
export function shown(bytes: Uint8Array, offsets: Iterable<number>): Shown {
  const places = new Map<number, number>();
  const pieces: string[] = [];
  let from = 0;
  let length = 0;
  for (const offset of [...new Set(offsets), bytes.length].sort((a, b) => a - b)) {
    const piece = lines(decoder.decode(bytes.subarray(from, offset)));
    pieces.push(piece);
    length += piece.length;
    places.set(offset, length);
    from = offset;
  }
  return { text: pieces.join(""), at: (offset) => places.get(offset) ?? 0 };
}
