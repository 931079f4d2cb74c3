"""What people touch: the Streamlit app and the command line."""
