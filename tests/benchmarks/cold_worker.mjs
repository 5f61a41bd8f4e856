// The page's worker (web/src/worker.ts), which also forgets what it has counted when the benchmark says so: code stays
// warm, caches are cold.
import { createHost } from "../../web/src/host.ts";
import { remoteHook, remoteSnapshot, remoteTell, serve } from "../../web/src/protocol.ts";
import { forgetCounted, o200k } from "../../web/src/tokens.ts";

const channel = new BroadcastChannel("cold");
channel.onmessage = () => {
  forgetCounted();
  channel.postMessage("forgot");
};
serve(self, createHost(() => o200k, remoteTell(self), { hook: remoteHook(self), sent: remoteSnapshot(self) }));
