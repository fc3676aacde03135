curl --silent --show-error --max-time 40 \
  "${BOTIX_URL:?}/idempotency-keys/$KEY" \
  --header "Authorization: Bearer ${BOTIX_API_KEY:?}"
