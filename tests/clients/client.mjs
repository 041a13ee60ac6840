// A client of qad in JavaScript, written from docs/PROTOCOL.md: says hello, asks everything that can be asked about one
// target, watches it, and prints what came as JSON lines. Usage: node client.mjs SOCKET PID
import { Decoder, Encoder } from "@msgpack/msgpack";
import { connect } from "node:net";

const [path, pid] = [process.argv[2], Number(process.argv[3])];
const encoder = new Encoder();

class Client {
  #lastId = 0;
  #waiting = new Map();

  constructor(socket, onNotification) {
    this.socket = socket;
    this.onNotification = onNotification;
  }

  async read() {
    for await (const frame of new Decoder().decodeStream(this.socket)) {
      if (frame[0] === 1) {
        const [, id, error, result] = frame;
        const { resolve, reject } = this.#waiting.get(id);
        this.#waiting.delete(id);
        if (error === null) resolve(result);
        else reject(Object.assign(new Error(error.message), { code: error.code }));
      } else if (frame[0] === 2) {
        this.onNotification(frame[1], frame[2]);
      }
    }
  }

  ask(method, params = {}) {
    const id = ++this.#lastId;
    const answer = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.socket.write(encoder.encode([0, id, method, params]));
    return answer;
  }
}

function print(what, value) {
  console.log(JSON.stringify({ what, value }));
}

const socket = connect(path);
let figures = 0;
let enough;
const watched = new Promise((resolve) => (enough = resolve));
const client = new Client(socket, (method, params) => {
  print(method, params);
  if (++figures === 3) enough();
});
const reading = client.read().catch((error) => print("read", String(error)));

print("hello", await client.ask("hello", { protocol: 1, role: "client", version: "js" }));
print("ps", await client.ask("ps"));
print("who", await client.ask("ps", { figures: false }));
print("stats", await client.ask("stats", { pid }));
print("all classes", await client.ask("stats", { pid, all_classes: true }));
print("map", await client.ask("map", { pid }));
print("trim", await client.ask("trim", { pid, keep_bytes: 4096 }));
print("trim class", await client.ask("trim", { pid, block_size: 64 }));
print("trim all", await client.ask("trim", { all: true }));
const { watch } = await client.ask("watch", { pid, interval_ms: 100, classes: true });
await watched;
print("unwatch", await client.ask("unwatch", { watch }));
print("history", await client.ask("history", { pid }));
print("tens", await client.ask("history", { pid, step_s: 10, from_s: 60, to_s: 0 }));
print("nothing", await client.ask("history", { pid, from_s: 1, to_s: 2 }));
print("health", await client.ask("health"));
const refused = [
  ["stats", { pid: 1 << 30 }], ["reboot", {}], ["stats", {}], ["trim", { pid, pool: "none" }],
  ["trim", { pid, pool: "none", block_size: 16 }], ["unwatch", { watch }], ["watch", { interval_ms: 99 }],
  ["history", { pid, step_s: 5 }],
];
for (const [method, params] of refused) {
  try {
    await client.ask(method, params);
  } catch (error) {
    print("error", error.code);
  }
}
socket.end();
await reading;
