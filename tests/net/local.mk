# Real jobs under vcclrun.
