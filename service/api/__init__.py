"""The GraphQL API: documents of the read models, picked from; what depends on arguments is loaded in batches."""
