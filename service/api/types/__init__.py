"""The types of the schema. A field without code is picked from the document; one with code loads or computes."""
