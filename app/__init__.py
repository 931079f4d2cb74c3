"""The user interfaces: the Streamlit app and the command line."""
