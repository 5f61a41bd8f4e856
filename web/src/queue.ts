/**
 * Whose turn it is on the thread that runs Python: in rounds, every small call that waits and then one large one.
 *
 * So a small call waits behind one large one at most, a large one behind its elders of its size and a round of small
 * ones for each, and none is passed over for ever. A call is begun in a task of its own, when the one before has ended
 * or waits for the persistence hook: between them messages get in, and answers out.
 */

import { untilAborted } from "./abort.js";

/** Bytes from which a call is large: smaller ones take less than the tenth of a second that a person notices. */
const LARGE = 64 * 1024;

type Begin = () => void;

export class Queue {
  #small: Begin[] = [];
  #large: Begin[] = [];
  #round: Begin[] = [];
  #woken = false;
  readonly #soon = nextTask(() => this.#turn());

  /** What `work` gives, which begins when it is its turn, and never if `signal` aborts before. */
  run<T>(bytes: number, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    let begin: Begin;
    const inTurn = (): Promise<T> =>
      new Promise<T>((resolve, reject) => {
        begin = () => void work().then(resolve, reject);
        (bytes < LARGE ? this.#small : this.#large).push(begin);
        this.#wake();
      });
    return untilAborted(signal, inTurn, () => {
      for (const line of [this.#small, this.#large, this.#round]) {
        const at = line.indexOf(begin);
        if (at >= 0) line.splice(at, 1);
      }
    });
  }

  /** What waits never begins. */
  clear(): void {
    for (const line of [this.#small, this.#large, this.#round]) line.length = 0;
  }

  #wake(): void {
    if (!this.#woken) this.#soon();
    this.#woken = true;
  }

  #turn(): void {
    this.#woken = false;
    if (!this.#round.length) this.#round = [...this.#small.splice(0), ...this.#large.splice(0, 1)];
    this.#round.shift()?.();
    if (this.#small.length || this.#large.length || this.#round.length) this.#wake(); // after what came meanwhile
  }
}

/** Calls `work` in a task of its own each time it is called. Node stays alive for an open port, and has its own way. */
function nextTask(work: () => void): () => void {
  const { setImmediate } = globalThis as { setImmediate?: (work: () => void) => void };
  if (setImmediate) return () => setImmediate(work);
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = work;
  return () => port2.postMessage(null);
}
