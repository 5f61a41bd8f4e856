/** The host behind a module worker. */

import { createHost } from "./host.js";
import { serve, type Port } from "./protocol.js";
import { o200k } from "./tokens.js";

serve(self as unknown as Port, createHost(o200k));
