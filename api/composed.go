package api

// The schemas that extend another one, written by hand: embedding keeps one
// conversion for the plain object, where generated code would repeat its fields.
// A test holds them against the description's examples.

// WebhookEndpointWithSecret is the answer to creating an endpoint and to rotating
// its secret, the only two that show one (contract §5, §8).
type WebhookEndpointWithSecret struct {
	WebhookEndpoint

	// Secret signs deliveries from now on: whsec_ and the base64 of the key.
	Secret WebhookSecret `json:"secret"`

	// PreviousSecretExpiresAt is until when the secret before signs as well; nil
	// when there is none.
	PreviousSecretExpiresAt *Timestamp `json:"previous_secret_expires_at"`
}

// WebhookDeliveryWithAttempts is a delivery read by its id (contract §8).
type WebhookDeliveryWithAttempts struct {
	WebhookDelivery

	// Attempts are the last 100, in the order they were sent.
	Attempts []WebhookAttempt `json:"attempts"`
}
