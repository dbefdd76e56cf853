"""The application around the rules: the log, the ledger, the follower, the API and the command line."""
