"""The commands of `berdseye`, a file a subject; each registers itself with the application.

What a command needs of the backend is imported when it runs, so that every other command starts at once.
"""
