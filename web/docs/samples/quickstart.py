import http.client
import json
import os
import random
import time
import urllib.error
import urllib.request
import uuid

URL = os.environ["BOTIX_URL"]
API_KEY = os.environ["BOTIX_API_KEY"]


def send(method, path, body, key, patience=120):
    """Carry out one operation: repeat it with the same key until its outcome is known."""
    data = json.dumps(body).encode()  # the same bytes on every try
    give_up, pause = time.monotonic() + patience, 0.5
    while True:
        request = urllib.request.Request(URL + path, data, method=method, headers={
            "Authorization": "Bearer " + API_KEY,
            "Idempotency-Key": key,
            "Content-Type": "application/json",
        })
        wait = pause * random.uniform(0.5, 1.5)
        try:
            with urllib.request.urlopen(request, timeout=40) as answer:
                text = answer.read()
                return answer.status, json.loads(text) if text else None, answer.headers
        except urllib.error.HTTPError as answer:
            problem = read_problem(answer)
            if not problem["retryable"]:
                raise SystemExit(f"{answer.code} {problem['code']}: {problem.get('detail')}")
            seconds = answer.headers.get("Retry-After", "")
            wait += int(seconds) if seconds.isdigit() else 0
        except (OSError, http.client.HTTPException):
            pass  # no answer: nobody knows whether it was carried out, so repeat it
        if time.monotonic() + wait > give_up:
            raise SystemExit(f"outcome unknown: repeat later with the key {key}")
        time.sleep(wait)
        pause = min(pause * 2, 30)


def read_problem(answer):
    """Read an error. One without a code is not ours, but a proxy's on the way."""
    try:
        problem = json.load(answer)
    except (OSError, http.client.HTTPException, ValueError):
        problem = None
    if isinstance(problem, dict) and "code" in problem and "retryable" in problem:
        return problem
    return {"code": "no code", "retryable": answer.code >= 500 or answer.code in (408, 425, 429)}


key = str(uuid.uuid4())  # made once; store it beside the operation
contact = {"name": "Ada Lovelace", "email": "ada@example.com"}
for _ in range(2):  # the second call gets the first one's answer
    status, created, headers = send("POST", "/contacts", contact, key)
    print(status, created["id"], "replayed:", headers.get("Idempotent-Replayed", "false"))
