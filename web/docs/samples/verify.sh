# verify SECRET ID TIMESTAMP SIGNATURES FILE [NOW]: is the body in FILE from us?
verify() {
  case $3 in '' | *[!0-9]*) return 1 ;; esac # digits only: the shell would evaluate anything else
  [ $(( ${6:-$(date +%s)} - $3 )) -le 300 ] && [ $(( $3 - ${6:-$(date +%s)} )) -le 300 ] || return 1
  [ -n "${1#whsec_}" ] || return 1
  secret=$(printf %s "${1#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')
  expected=$({ printf '%s.%s.' "$2" "$3"; cat "$5"; } |
    openssl dgst -sha256 -mac HMAC -macopt "hexkey:$secret" -binary | openssl base64 -A)
  [ -n "$expected" ] || return 1
  case " $4 " in *" v1,$expected "*) return 0 ;; *) return 1 ;; esac
}

body=$(mktemp)
printf %s '{"id":"evt_1"}' > "$body"
secret=whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX
signature=v1,0OglyWsPfb4JKWOjYgL2qk8cidPnClXPK3gZqqNQ+4Q=
verify "$secret" evt_1 1700000000 "$signature" "$body" 1700000000 && echo genuine
printf ' ' >> "$body"
verify "$secret" evt_1 1700000000 "$signature" "$body" 1700000000 || echo forged
rm -f "$body"
