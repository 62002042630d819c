"""Pure figures: arrays and labels in, a Plotly Figure or a chart description out. Nothing is computed here."""
