// Turns and giving up on Node's own thread: the same queue as in a worker, woken by setImmediate.
import assert from "node:assert/strict";
import { test } from "node:test";
import { caveman, LOG } from "./caveman.mjs";

const LARGE = LOG.repeat(20);
const noted = (order) => (name, options) =>
  caveman.compress(`${name[0] === "L" ? LARGE : LOG}${name}`, options).then(
    () => order.push(name),
    ({ name: kind }) => order.push(`${name} ${kind}`),
  );

test("a small call waits for one large one at most, and each size keeps its order", async () => {
  const order = [];
  await Promise.all(["L1", "L2", "L3", "L4", "L5", "s1", "s2"].map((name) => noted(order)(name)));
  assert.ok(order.indexOf("s2") <= 2, `${order}`);
  assert.deepEqual(order.filter((name) => name[0] === "L"), ["L1", "L2", "L3", "L4", "L5"]);
});

test("a call given up while it waits rejects at once and never begins", async () => {
  const { records } = await caveman.stats();
  const order = [];
  const controller = new AbortController();
  const calls = [noted(order)("L6"), noted(order)("s6", { signal: controller.signal })];
  controller.abort();
  await Promise.all(calls);
  assert.deepEqual(order, ["s6 AbortError", "L6"]);
  assert.equal((await caveman.stats()).records, records + 1);
});

test("select gives the slice that a selector names", async () => {
  const { recoveryHandle } = await caveman.compress(LOG);
  const line = new TextDecoder().decode(await caveman.select(recoveryHandle, "line=7,8"));
  assert.equal(line, `${LOG.split("\n")[7]}\n`);
});
