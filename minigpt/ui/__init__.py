"""The only Streamlit code besides app.py and pages: the shell, the reader's workspace, text and controls."""
