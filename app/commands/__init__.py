"""The commands of `berdseye`, one module per subject; each module registers its commands with the application.

A command imports the backend modules it needs when it runs, so that every other command starts fast.
"""
