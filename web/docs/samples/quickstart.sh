KEY=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')

create() {
  curl --silent --show-error --include \
    --max-time 40 --retry 6 --retry-all-errors --retry-max-time 120 \
    "${BOTIX_URL:?}/contacts" \
    --header "Authorization: Bearer ${BOTIX_API_KEY:?}" \
    --header "Idempotency-Key: $KEY" \
    --header 'Content-Type: application/json' \
    --data '{"name": "Ada Lovelace", "email": "ada@example.com"}'
}

create && echo
create && echo
