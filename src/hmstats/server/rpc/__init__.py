"""One thin method for each RPC, under the RPC's own name: struct in, rules, struct out. A file for each subject."""
