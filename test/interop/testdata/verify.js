// Reads {"secrets": […], "headers": {…}, "body": "base64"} and lets the published
// library judge the body, and the same body with a space more, under each secret.
const { Webhook } = require("standardwebhooks");
const input = JSON.parse(require("fs").readFileSync(0, "utf8"));
const body = Buffer.from(input.body, "base64").toString("utf8");
const accepts = (secret, text) => {
  try {
    new Webhook(secret).verify(text, input.headers);
    return "accepted";
  } catch (error) {
    return error.message;
  }
};
console.log(JSON.stringify(input.secrets.map((secret) => [accepts(secret, body), accepts(secret, body + " ")])));
