# Conformance: one list that every link passes.
