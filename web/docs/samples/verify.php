<?php
/**
 * Tells whether the raw body, file_get_contents('php://input'), is from us and recent.
 * The headers' names are lower-case: array_change_key_case(getallheaders()).
 */
function verify(string $secret, array $headers, string $body, ?int $now = null): bool
{
    $timestamp = $headers['webhook-timestamp'] ?? '';
    if (!ctype_digit($timestamp) || abs(($now ?? time()) - (int) $timestamp) > 300) {
        return false; // somebody may be sending an old one again
    }
    $key = base64_decode(substr($secret, strlen('whsec_')));
    if ($key === false || $key === '') {
        return false; // anybody can sign with an empty secret
    }
    $signed = ($headers['webhook-id'] ?? '') . ".$timestamp.$body";
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', $signed, $key, true));
    foreach (explode(' ', $headers['webhook-signature'] ?? '') as $one) {
        if (hash_equals($expected, $one)) {
            return true;
        }
    }
    return false;
}

$secret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX';
$headers = [
    'webhook-id' => 'evt_1',
    'webhook-timestamp' => '1700000000',
    'webhook-signature' => 'v1,0OglyWsPfb4JKWOjYgL2qk8cidPnClXPK3gZqqNQ+4Q=',
];
foreach (['{"id":"evt_1"}', '{"id":"evt_1"} '] as $body) {
    echo verify($secret, $headers, $body, 1700000000) ? 'genuine' : 'forged', "\n";
}
