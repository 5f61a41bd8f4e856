/** The demo page. It uses the package as any page would. */

import { attempt, offerOffline } from "./dom.js";
import { startPlayground } from "./playground.js";
import { StoreView } from "./store.js";

const store = new StoreView();
await attempt("Starting Python…", async () => {
  await store.start();
  store.listen();
  offerOffline();
  startPlayground(
    () => store.caveman,
    () => store.refresh(),
  );
});
