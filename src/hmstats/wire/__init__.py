"""The protocol: the IDL, and one codec file for each part of the model, both directions side by side."""
