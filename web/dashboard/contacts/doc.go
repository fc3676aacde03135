// Package contacts is the dashboard's pages about contacts: the list, one contact
// with what was sent to it, and the forms that make, change and delete one by the
// rules of the API.
package contacts
