"""Serving the app: ports, the access checks in front of Streamlit's routes, and the Label Studio server."""
