"""Serving the app: ports, the gate in front of Streamlit's routes, and Label Studio beside it."""
