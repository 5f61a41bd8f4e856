/** One running caveman: started by the first call that needs it, and anew where it did not start or has died. */

import { createCaveman, CavemanError, type Caveman, type CavemanOptions } from "../../src/index.js";

export class Engine {
  readonly #options: CavemanOptions;
  #running: Promise<Caveman> | undefined;

  constructor(options: CavemanOptions) {
    this.#options = options;
  }

  async use<T>(work: (caveman: Caveman) => Promise<T>): Promise<T> {
    const running = (this.#running ??= createCaveman(this.#options));
    const forget = (): void => {
      if (this.#running === running) this.#running = undefined;
    };
    const caveman = await running.catch((thrown: unknown) => {
      forget();
      throw thrown;
    });
    try {
      return await work(caveman);
    } catch (thrown) {
      if (thrown instanceof CavemanError && thrown.code === "cave_worker_lost") forget();
      throw thrown;
    }
  }

  close(): void {
    this.#running?.then(
      (caveman) => caveman.close(),
      () => {},
    );
  }
}
