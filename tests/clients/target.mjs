// A target of qad in JavaScript, written from docs/PROTOCOL.md: says hello, and answers what qad asks with figures of its
// own making, until its connection ends. Usage: node target.mjs SOCKET NAME
import { Decoder, Encoder } from "@msgpack/msgpack";
import { connect } from "node:net";

const [path, name] = process.argv.slice(2);
const encoder = new Encoder();
const socket = connect(path);
const row = {
  block_size: 48, name: "", pages: 2, held_bytes: 131072, used_bytes: 48000, cached_bytes: 83072, thread_bytes: 4800,
  partial_bytes: 12704, empty_bytes: 65536, slack_bytes: 32, used_blocks: 1000, allocs: 3000, frees: 2000,
};

function totals() {
  const { block_size, name, pages, used_blocks, ...figures } = row;
  return { page_size: 65536, threads: 1, unreachable_bytes: 0, ...figures };
}

function stats({ classes }) {
  return classes ? { ...totals(), classes: [row] } : totals();
}

function map() {
  const tenths = (value) => [0, 0, 0, 0, 0, 0, 0, value, 0, 0];
  return {
    page_size: 65536,
    classes: [{
      block_size: 48, name: "", pages: 1, empty_pages: 1, tenth_pages: tenths(1), tenth_out_bytes: tenths(52800),
      tenth_free_bytes: tenths(12704),
    }],
  };
}

function trim({ block_size = 0, pool = "" }) {
  if (pool !== "" || (block_size !== 0 && block_size !== 48)) {
    throw Object.assign(new Error("There is no such size class or pool."), { code: "no_class" });
  }
  return {
    returned_bytes: 65536, held_before_bytes: 131072, held_after_bytes: 65536, cached_before_bytes: 83072,
    cached_after_bytes: 17536, duration_us: 12, threads_skipped: 0,
  };
}

const answers = { stats, map, trim };

function answer(method, params) {
  if (!Object.hasOwn(answers, method)) {
    throw Object.assign(new Error("This target does not know that."), { code: "unknown_method" });
  }
  return answers[method](params);
}

socket.write(encoder.encode([0, 0, "hello", { protocol: 1, role: "target", version: "js", name, pid: process.pid }]));
for await (const [kind, id, method, params] of new Decoder().decodeStream(socket)) {
  if (kind !== 0) continue;
  let error = null;
  let result = null;
  try {
    result = answer(method, params);
  } catch ({ code, message }) {
    error = { code, message };
  }
  socket.write(encoder.encode([1, id, error, result]));
}
