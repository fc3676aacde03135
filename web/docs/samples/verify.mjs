import { createHmac, timingSafeEqual } from "node:crypto";

/** Tells whether the raw bytes of the body, a Buffer, are from us and recent. */
function verify(secret, headers, body, now = Date.now() / 1000) {
  const timestamp = headers["webhook-timestamp"];
  if (!(Math.abs(now - Number(timestamp)) <= 300)) return false; // an old one, sent again
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  if (key.length === 0) return false; // anybody can sign with an empty secret
  const digest = createHmac("sha256", key)
    .update(`${headers["webhook-id"]}.${timestamp}.`)
    .update(body)
    .digest("base64");
  const expected = Buffer.from("v1," + digest);
  return (headers["webhook-signature"] ?? "").split(" ").some((one) => {
    const given = Buffer.from(one);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

const secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";
const headers = {
  "webhook-id": "evt_1",
  "webhook-timestamp": "1700000000",
  "webhook-signature": "v1,0OglyWsPfb4JKWOjYgL2qk8cidPnClXPK3gZqqNQ+4Q=",
};
for (const body of ['{"id":"evt_1"}', '{"id":"evt_1"} ']) {
  console.log(verify(secret, headers, Buffer.from(body), 1700000000) ? "genuine" : "forged");
}
