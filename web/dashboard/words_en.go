package dashboard

import "github.com/botix-pro/platform/app/models"

//nolint:gochecknoglobals // a constant table
var english = words{
	SignIn: signInWords{
		Title: "Sign in", Email: "Email", Password: "Password", Show: "Show password", Hide: "Hide password", Submit: "Sign in",
		Wrong:     "The email or the password is wrong.",
		Throttled: "There were too many attempts to sign in. Try again after %s.",
	},
	Account: accountWords{
		Title: "Your account", Lead: "What belongs to you and not to a project.", Who: "You",
		Password: "Change the password", PasswordLead: "All your other sessions end when it is changed.",
		Current: "Current password", New: "New password (12 characters or more)", Change: "Change the password",
		Changed: "The password was changed. Your other sessions are over.",
		Wrong:   "The current password is wrong.", TooShortF: "A password has at least %d characters.",
	},
	Members: membersWords{
		Title: "Members", Lead: "Who sees this project in the dashboard, and what they did here.",
		Role: "Role", Since: "Member since", Change: "Change", You: "you", Until: "Can be accepted until",
		Remove: "Remove", RemoveF: "Remove %s", RemoveQuestionF: "Take %s out of the project?",
		Removed: "The member was removed.", LastOwner: "This is the only owner. Make somebody else an owner first.",
		Invited: "Invited", Withdraw: "Withdraw", WithdrawF: "Withdraw the invitation of %s", Withdrawn: "The invitation was withdrawn.",
		Add: "Add a member", AddLead: "Somebody with an account is added at once; a member gets the role chosen here. For somebody without one you get a link to pass on.",
		AddedF: "%s is a member now.", BadEmail: "This is not an email address.",
		RolesMean: "Members see everything and repair deliveries. Owners also manage API keys and members.",
		AskOwner:  "Only owners add and remove members.",
		Link:      "invitation link", LinkForF: "Invitation for %s",
		LinkLead: "Pass this link on. It works once, for three days, and is not shown again.",
		Did:      "What was done in the dashboard", When: "When", Who: "Who", What: "What", To: "To", NothingDone: "Nothing yet.",
		Roles: map[models.Role]string{models.RoleOwner: "Owner", models.RoleMember: "Member"},
		Actions: map[string]string{
			"contact.created": "Created a contact", "contact.updated": "Changed a contact", "contact.deleted": "Deleted a contact",
			"job.cancelled": "Stopped a job", "message.created": "Sent a message", "message.cancelled": "Cancelled a message", "message.settled": "Settled a message",
			"run.cancelled": "Cancelled a run", "sandbox.set": "Set the sandbox", "scenario.created": "Created a scenario", "scenario.updated": "Changed a scenario",
			"scenario.activated": "Activated a scenario", "scenario.archived": "Archived a scenario", "scenario.run": "Ran a scenario",
			"member.added": "Added a member", "member.removed": "Removed a member", "member.invited": "Invited somebody",
			"member.joined": "Accepted an invitation", "webhook_endpoint.created": "Created an endpoint", "webhook_endpoint.updated": "Changed an endpoint", "webhook_endpoint.paused": "Paused an endpoint",
			"webhook_endpoint.resumed":        "Resumed an endpoint",
			"webhook_endpoint.tested":         "Sent a test event",
			"webhook_delivery.redirected":     "Sent a copy to the inspector",
			"inspector_bin.created":           "Made a bin",
			"inspector_bin.scripted":          "Set a bin's answers",
			"inspector_bin.cleared":           "Cleared a bin",
			"webhook_endpoint.secret_rotated": "Rotated a secret",
			"webhook_endpoint.deleted":        "Deleted an endpoint",
			"webhook_delivery.retried":        "Retried a delivery", "recovery.started": "Retried dead letters",
			"operation.noted": "Looked into an operation", "operation.webhooks_retried": "Retried an operation's webhooks",
			"api_key.created": "Created an API key", "api_key.revoked": "Revoked an API key",
		},
	},
	Invitation: invitationWords{
		Title: "You are invited", LeadF: "Choose a password to join the project %s.", Accept: "Join",
		ExistingF: "Sign in with your password to join the project %s.",
		GoneTitle: "This invitation cannot be used", Gone: "It was used, withdrawn, or is older than three days. Ask for a new one.",
		Throttled: "There were too many attempts from your address. Try again in a few minutes.",
	},
	Errors: errorWords{
		NotFound:    errorText{"Page not found", "There is no such page, or it belongs to another project. Attempts are kept for 14 days."},
		Internal:    errorText{"Something went wrong", "The page could not be made. The rest of the dashboard may still work; try again in a moment."},
		OtherOrigin: errorText{"Request refused", "The request came from another site, so nothing was done. Open the dashboard and try again."},
		BadForm:     errorText{"Request refused", "The form could not be read. Go back and try again."},
		NoProject:   errorText{"No project", "You are not a member of any project. Ask the owner of a project to add you, or sign in as somebody else."},
		NotOwner:    errorText{"Only owners may do this", "Ask an owner of the project. The page of members tells who they are."},
		RequestID:   "If it happens again, quote this request:", Back: "To the dashboard",
	},
}
