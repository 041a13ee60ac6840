// A client of qad in JavaScript, written from docs/PROTOCOL.md: says hello, asks what its arguments say, watches one
// target, and prints what came as JSON lines. Usage: node client.mjs SOCKET PID
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
print("stats", await client.ask("stats", { pid }));
print("trim", await client.ask("trim", { pid, keep_bytes: 4096 }));
const { watch } = await client.ask("watch", { pid, interval_ms: 100 });
await watched;
print("unwatch", await client.ask("unwatch", { watch }));
print("history", await client.ask("history", { pid }));
print("health", await client.ask("health"));
for (const [method, params] of [["stats", { pid: 1 << 30 }], ["reboot", {}], ["stats", {}]]) {
  try {
    await client.ask(method, params);
  } catch (error) {
    print("error", error.code);
  }
}
socket.end();
await reading;
