package dashboard

//nolint:gochecknoglobals // a constant table
var english = words{
	SignIn: signInWords{
		Title: "Sign in", Email: "Email", Password: "Password", Show: "Show password", Hide: "Hide password", Submit: "Sign in",
		Wrong:     "The email or the password is wrong.",
		Throttled: "There were too many attempts to sign in. Try again after %s.",
	},
	Errors: errorWords{
		NotFound:    errorText{"Page not found", "There is no such page, or it belongs to another project. Attempts are kept for 14 days."},
		Internal:    errorText{"Something went wrong", "The page could not be made. The rest of the dashboard may still work; try again in a moment."},
		OtherOrigin: errorText{"Request refused", "The request came from another site, so nothing was done. Open the dashboard and try again."},
		BadForm:     errorText{"Request refused", "The form could not be read. Go back and try again."},
		NoProject:   errorText{"No project", "You are not a member of any project. Ask the owner of a project to add you, or sign in as somebody else."},
		RequestID:   "If it happens again, quote this request:", Back: "To the dashboard",
	},
}
