/** The host behind a module worker. */

import { createHost } from "./host.js";
import { remoteHook, remoteSnapshot, remoteTell, serve, type Port } from "./protocol.js";
import { o200k } from "./tokens.js";

const port = self as unknown as Port;
serve(port, createHost(o200k, remoteTell(port), remoteHook(port), undefined, remoteSnapshot(port)));
