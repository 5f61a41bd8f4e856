/** An error as it travels between page, worker and Python: data, never an exception. */
export interface ErrorData {
  readonly code: string;
  readonly message: string;
  readonly reference: string | null;
}

/**
 * What every promise of this package rejects with.
 *
 * `code` is stable and machine-readable (`cave_unknown_handle`, …); `reference` is the handle the error is
 * about, or null. The message says what to do next and never echoes payload content.
 */
export class CavemanError extends Error {
  readonly code: string;
  readonly reference: string | null;

  constructor(code: string, message: string, reference: string | null = null) {
    super(message);
    this.name = "CavemanError";
    this.code = code;
    this.reference = reference;
  }

  /** Rebuilt on the side that receives it: classes do not survive a message. */
  static from(data: ErrorData): CavemanError {
    return new CavemanError(data.code, data.message, data.reference);
  }

  /**
   * Whatever was thrown, as data. What is no CavemanError came from the Python runtime itself, past the door
   * that turns every Python exception into data: the runtime cannot be trusted any more.
   */
  static toData(thrown: unknown): ErrorData {
    if (thrown instanceof CavemanError) {
      return { code: thrown.code, message: thrown.message, reference: thrown.reference };
    }
    const kind = thrown instanceof Error ? thrown.name : typeof thrown;
    return {
      code: "cave_worker_lost",
      message: `The Python runtime failed (${kind}); what only its memory held is gone. The next call starts a new one.`,
      reference: null,
    };
  }
}

export const invalidArguments = (message: string): CavemanError =>
  new CavemanError("cave_invalid_arguments", message);
