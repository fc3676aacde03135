import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

const { BOTIX_URL, BOTIX_API_KEY } = process.env;

/** Carries out one operation: repeats it with the same key until its outcome is known. */
async function send(method, path, body, key, patience = 120_000) {
  const data = JSON.stringify(body); // the same bytes on every try
  const giveUp = Date.now() + patience;
  for (let pause = 500; ; pause = Math.min(pause * 2, 30_000)) {
    let wait = pause * (0.5 + Math.random());
    try {
      const answer = await fetch(BOTIX_URL + path, {
        method,
        body: data,
        signal: AbortSignal.timeout(40_000),
        headers: {
          Authorization: `Bearer ${BOTIX_API_KEY}`,
          "Idempotency-Key": key,
          "Content-Type": "application/json",
        },
      });
      const text = await answer.text();
      if (answer.ok) return { status: answer.status, body: JSON.parse(text), headers: answer.headers };
      const problem = parse(text) ?? { code: "HTTP", retryable: answer.status >= 500 };
      if (!problem.retryable) throw new Refused(`${answer.status} ${problem.code}: ${problem.detail}`);
      wait = Math.max(wait, 1000 * (answer.headers.get("Retry-After") ?? 0));
    } catch (error) {
      if (error instanceof Refused) throw error;
      // No answer: nobody knows whether it was carried out, so repeat it.
    }
    if (Date.now() + wait > giveUp) throw new Error(`outcome unknown: repeat later with the key ${key}`);
    await sleep(wait);
  }
}

class Refused extends Error {}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // not ours: a proxy on the way
  }
}

const key = randomUUID(); // made once; store it beside the operation
const contact = { name: "Ada Lovelace", email: "ada@example.com" };
for (let i = 0; i < 2; i++) { // the second call gets the first one's answer
  const { status, body, headers } = await send("POST", "/contacts", contact, key);
  console.log(status, body.id, "replayed:", headers.get("Idempotent-Replayed") ?? "false");
}
