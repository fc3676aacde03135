import base64
import hashlib
import hmac
import time


def verify(secret, headers, body, now=None):
    """Tell whether the raw bytes of the body are from us and recent."""
    timestamp = headers.get("webhook-timestamp", "")
    if not (timestamp.isascii() and timestamp.isdigit()):
        return False
    if abs((now or time.time()) - int(timestamp)) > 300:
        return False  # somebody may be sending an old one again
    key = base64.b64decode(secret.removeprefix("whsec_"))
    if not key:
        return False  # anybody can sign with an empty secret
    signed = f"{headers.get('webhook-id')}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return any(hmac.compare_digest(one.encode(), expected.encode())
               for one in headers.get("webhook-signature", "").split(" "))


secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"
headers = {
    "webhook-id": "evt_1",
    "webhook-timestamp": "1700000000",
    "webhook-signature": "v1,0OglyWsPfb4JKWOjYgL2qk8cidPnClXPK3gZqqNQ+4Q=",
}
for body in (b'{"id":"evt_1"}', b'{"id":"evt_1"} '):
    print("genuine" if verify(secret, headers, body, now=1700000000) else "forged")
