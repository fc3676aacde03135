// Package egress is the door through which every connection leaves whose
// address a tenant can influence: webhooks, http_request steps, SMTP and the
// Bot API (contract §5).
//
// The door stands in the dialer. What is judged is the address that is about
// to be connected to, after DNS and after unmapping, so a name that changes its
// answer between two look-ups gains nothing, and neither does an IPv4 address
// dressed up as IPv6. The same judgement is offered for a URL that is about to
// be saved, only so that its owner reads the reason at once instead of in a
// failed delivery.
//
// Ports are not restricted. Self-hosted receivers listen on all sorts of them,
// and a port says nothing about whether an address is public.
//
// The list of what is not public comes from the IANA registries through
// code.dny.dev/ssrf. This package adds the readable reasons, the IPv4 addresses
// hidden in IPv6 forms, and the ranges an operator opens (EGRESS_ALLOW_CIDRS).
// One thing cannot be known here: a NAT64 gateway with a prefix of its own
// inside public space. Whoever runs one must stop private addresses there.
//
// One server of our own may be reached wherever it listens, by its public host
// and port and by nothing else ([WithDirect]): the inspector, which takes
// requests from anybody anyway.
package egress
