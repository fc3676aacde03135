import json
import os
import time
import urllib.request
import uuid

URL = os.environ["BOTIX_URL"]
API_KEY = os.environ["BOTIX_API_KEY"]


def create(contact):
    request = urllib.request.Request(URL + "/contacts", json.dumps(contact).encode(), {
        "Authorization": "Bearer " + API_KEY,
        "Idempotency-Key": str(uuid.uuid4()),
        "Content-Type": "application/json",
    })
    with urllib.request.urlopen(request, timeout=40) as answer:
        return answer.headers


for number in range(3):
    headers = create({"name": f"Contact {number}"})
    left = int(headers["X-RateLimit-Remaining"])
    ends = int(headers["X-RateLimit-Reset"])
    print(left, "requests left in this minute")
    if left < 5:  # leave some for whoever else uses the key
        time.sleep(max(0, ends - time.time()) + 1)
