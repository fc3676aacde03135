// Package actions is what a caller of the API and a member at the pages do alike:
// the rules, the rows and the events of one deed, in the transaction they bring.
// Neither HTTP nor sign-in is known here.
package actions
