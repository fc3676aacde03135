import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

const { BOTIX_URL, BOTIX_API_KEY } = process.env;
if (!BOTIX_URL || !BOTIX_API_KEY) throw new Error("set BOTIX_URL and BOTIX_API_KEY");

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
      if (answer.ok) return { status: answer.status, body: text ? JSON.parse(text) : null, headers: answer.headers };
      const problem = readProblem(answer.status, text);
      if (!problem.retryable) throw new Refused(`${answer.status} ${problem.code}: ${problem.detail}`);
      wait += 1000 * (Number(answer.headers.get("Retry-After")) || 0);
    } catch (error) {
      if (error instanceof Refused) throw error;
      // No answer: nobody knows whether it was carried out, so repeat it.
    }
    if (Date.now() + wait > giveUp) throw new Error(`outcome unknown: repeat later with the key ${key}`);
    await sleep(wait);
  }
}

class Refused extends Error {}

/** Reads an error. One without a code is not ours, but a proxy's on the way. */
function readProblem(status, text) {
  try {
    const problem = JSON.parse(text);
    if (problem.code && "retryable" in problem) return problem;
  } catch {
    // not JSON
  }
  return { code: "no code", retryable: status >= 500 || [408, 425, 429].includes(status) };
}

const key = randomUUID(); // made once; store it beside the operation
const contact = { name: "Ada Lovelace", email: "ada@example.com" };
for (let i = 0; i < 2; i++) { // the second call gets the first one's answer
  const { status, body, headers } = await send("POST", "/contacts", contact, key);
  console.log(status, body.id, "replayed:", headers.get("Idempotent-Replayed") ?? "false");
}
