"""What every page stands on: text, workspace, the shared models and traces."""
