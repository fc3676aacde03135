curl --silent --show-error --max-time 40 \
  "${BOTIX_URL:?}/webhook-endpoints" \
  --header "Authorization: Bearer ${BOTIX_API_KEY:?}" \
  --header "Idempotency-Key: $(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')" \
  --header 'Content-Type: application/json' \
  --data '{"url": "https://example.com/webhooks", "event_types": ["contact.*"]}'
