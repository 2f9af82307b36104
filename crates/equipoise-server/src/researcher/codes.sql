-- Codes that let an account in once. The code itself is told once and kept nowhere; this is its SHA-256.
CREATE TABLE code (
    hash    BLOB PRIMARY KEY CHECK (length(hash) = 32),
    account TEXT    NOT NULL REFERENCES account (name) ON DELETE CASCADE,
    until   INTEGER NOT NULL
) STRICT;
