// The MCP server over a MessagePort, asked by the official client.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/client";
import { MessagePortTransport, serveMCP } from "caveman-wasm/adapters/mcp";
import { LOG, UNKNOWN, caveman, stored } from "./caveman.mjs";

const handle = await stored();

async function connected(versionNegotiation) {
  const { port1, port2 } = new MessageChannel();
  const server = await serveMCP(caveman, port1);
  const client = new Client({ name: "test", version: "0" }, { versionNegotiation });
  await client.connect(new MessagePortTransport(port2));
  return { server, client };
}

for (const mode of ["legacy", "auto"]) {
  test(`${mode}: all tools, answers, errors, notes`, async () => {
    const { client, server } = await connected({ mode });
    assert.match(client.getInstructions(), /caveman_retrieve/);
    const { tools } = await client.listTools();
    assert.deepEqual(
      tools.map(({ name, title, description, inputSchema, annotations, _meta }) => ({ name, title, description, inputSchema, annotations, audience: _meta["caveman/audience"] })),
      caveman.tools.map(({ execute, call, ...row }) => row),
    );
    const call = (name, args) => client.callTool({ name, arguments: args });
    const shorter = await call("caveman_compress", { input: LOG + mode }); // LOG itself may have been retrieved by now
    assert.match(shorter.content[0].text, /entries elided/);
    assert.match(shorter._meta["caveman/report"].recovery_handle, /^ccr_[0-9a-f]{32}$/);
    assert.deepEqual((await call("caveman_retrieve", { reference: handle })).content, [{ type: "text", text: LOG }]);
    const again = await call("caveman_retrieve", { reference: handle });
    assert.equal(again.content.length, 2);
    assert.match(again.content[1].text, /asked before/);
    const failed = await call("caveman_retrieve", { reference: UNKNOWN });
    assert.equal(failed.isError, true);
    assert.match(failed.content[0].text, /^cave_unknown_handle: /);
    assert.deepEqual(failed._meta["caveman/error"], { code: "cave_unknown_handle", reference: UNKNOWN });
    await assert.rejects(call("burn", {}), /no such tool/);
    await client.close();
    await server.close();
  });
}

test("resources are the originals, by handle and by selector", async () => {
  const { client, server } = await connected();
  const { resources } = await client.listResources();
  assert.ok(resources.some(({ uri, name }) => uri === `ccr://${handle}` && name === handle));
  const { resourceTemplates } = await client.listResourceTemplates();
  assert.equal(resourceTemplates[0].uriTemplate, "ccr://{id}");
  const read = async (uri) => (await client.readResource({ uri })).contents[0];
  assert.deepEqual(await read(`ccr://${handle}`), { uri: `ccr://${handle}`, mimeType: "text/plain", text: LOG });
  assert.equal((await read(`ccr://${handle}#line=1,3`)).text, LOG.split("\n").slice(1, 3).join("\n") + "\n");
  const bytes = Uint8Array.from([...new TextEncoder().encode(LOG), 0xff, 0xfe]);
  const { recoveryHandle } = await caveman.compress(bytes);
  const { blob, mimeType } = await read(`ccr://${recoveryHandle}`);
  assert.equal(mimeType, "application/octet-stream");
  assert.deepEqual(new Uint8Array(Buffer.from(blob, "base64")), bytes);
  await assert.rejects(read(`ccr://${UNKNOWN}`), (error) => {
    assert.match(error.message, /cave_unknown_handle/);
    assert.equal(error.code, -32602);
    return true;
  });
  await client.close();
  await server.close();
});

test("a closed end is noticed by the other", async () => {
  const { client, server } = await connected();
  const closed = new Promise((resolve) => (client.onclose = resolve));
  await server.close();
  await closed;
});
