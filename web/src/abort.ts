/** Giving a call up, as fetch has it. */

/** What `work` gives; when `signal` aborts rejects at once with its reason, and then calls `aborted`. */
export function untilAborted<T>(
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
  aborted = (): void => {},
): Promise<T> {
  if (!signal) return work();
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason);
      aborted();
    };
    signal.addEventListener("abort", abort, { once: true });
    work()
      .finally(() => signal.removeEventListener("abort", abort)) // a signal may outlive very many calls
      .then(resolve, reject);
  });
}
