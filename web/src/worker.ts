/** The host behind a module worker. */

import { createHost } from "./host.js";
import { remoteHook, remoteSnapshot, remoteTell, serve, type Port } from "./protocol.js";

const port = self as unknown as Port;
const counting = async () => (await import("./tokens.js")).o200k; // large: what the start asks for comes before it
serve(port, createHost(counting, remoteTell(port), { hook: remoteHook(port), sent: remoteSnapshot(port) }));
