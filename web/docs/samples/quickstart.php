<?php
if (!getenv('BOTIX_URL') || !getenv('BOTIX_API_KEY')) {
    throw new RuntimeException('set BOTIX_URL and BOTIX_API_KEY');
}

/** Carries out one operation: repeats it with the same key until its outcome is known. */
function send(string $method, string $path, array $body, string $key, int $patience = 120): array
{
    $data = json_encode($body); // the same bytes on every try
    $giveUp = microtime(true) + $patience;
    for ($pause = 0.5; ; $pause = min($pause * 2, 30)) {
        $wait = $pause * (0.5 + mt_rand() / mt_getrandmax());
        $context = stream_context_create(['http' => [
            'method' => $method,
            'content' => $data,
            'timeout' => 40,
            'ignore_errors' => true, // read the body of an error, too
            'header' => [
                'Authorization: Bearer ' . getenv('BOTIX_API_KEY'),
                'Idempotency-Key: ' . $key,
                'Content-Type: application/json',
            ],
        ]]);
        $http_response_header = [];
        $text = @file_get_contents(getenv('BOTIX_URL') . $path, false, $context);
        [$status, $headers] = head($http_response_header);
        $answer = json_decode((string) $text, true);
        if ($status === 204 || $status >= 200 && $status < 300 && $answer !== null) {
            return [$status, $answer, $headers];
        }
        if ($status >= 300) {
            // Without a code it is not ours, but a proxy's on the way.
            $problem = isset($answer['code'], $answer['retryable']) ? $answer
                : ['code' => 'no code', 'retryable' => $status >= 500 || in_array($status, [408, 425, 429])];
            if (!$problem['retryable']) {
                throw new RuntimeException("$status {$problem['code']}: " . ($problem['detail'] ?? ''));
            }
            $wait += (int) ($headers['retry-after'] ?? 0);
        }
        // Without a whole answer nobody knows whether it was carried out, so repeat it.
        if (microtime(true) + $wait > $giveUp) {
            throw new RuntimeException("outcome unknown: repeat later with the key $key");
        }
        usleep((int) ($wait * 1_000_000));
    }
}

function head(array $lines): array
{
    $status = (int) (explode(' ', $lines[0] ?? '')[1] ?? 0);
    $headers = [];
    foreach (array_slice($lines, 1) as $line) {
        [$name, $value] = explode(':', $line, 2);
        $headers[strtolower($name)] = trim($value);
    }
    return [$status, $headers];
}

$key = bin2hex(random_bytes(16)); // made once; store it beside the operation
$contact = ['name' => 'Ada Lovelace', 'email' => 'ada@example.com'];
for ($i = 0; $i < 2; $i++) { // the second call gets the first one's answer
    [$status, $created, $headers] = send('POST', '/contacts', $contact, $key);
    echo $status, ' ', $created['id'], ' replayed: ', $headers['idempotent-replayed'] ?? 'false', "\n";
}
