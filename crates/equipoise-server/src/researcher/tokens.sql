-- Tokens for scripts. The token itself is shown once and kept nowhere; this is its SHA-256.
CREATE TABLE token (
    name       TEXT PRIMARY KEY,
    account    TEXT    NOT NULL REFERENCES account (name) ON DELETE CASCADE,
    hash       BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),
    scopes     TEXT    NOT NULL,
    made_at    INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at    INTEGER
) STRICT;
