// Package mail sends plain-text mails through one SMTP server: the operator's,
// named in the configuration. It is not for addresses of servers that a tenant
// gives, which need the egress guard.
package mail
