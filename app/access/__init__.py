"""Who uses the app: sign-in, roles, and the session of a page."""
