"""Access to the app: sign-in, roles, and the session of a page."""
