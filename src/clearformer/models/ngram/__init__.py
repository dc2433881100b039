"""The n-gram model: what counting alone reaches."""
