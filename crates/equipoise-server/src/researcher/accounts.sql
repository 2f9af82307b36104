-- Who may look at a study. Not part of its log: accounts come and go, and nothing here is a result.
CREATE TABLE account (
    name     TEXT PRIMARY KEY,
    role     TEXT    NOT NULL CHECK (role IN ('owner', 'analyst', 'viewer')),
    memory   INTEGER NOT NULL,
    passes   INTEGER NOT NULL,
    salt     BLOB    NOT NULL CHECK (length(salt) = 16),
    hash     BLOB    NOT NULL CHECK (length(hash) = 32),
    made_at  INTEGER NOT NULL
) STRICT;

-- Browsers that are signed in. The token itself is in the browser only.
CREATE TABLE session (
    token    BLOB PRIMARY KEY CHECK (length(token) = 32),
    account  TEXT    NOT NULL REFERENCES account (name) ON DELETE CASCADE,
    begun_at INTEGER NOT NULL,
    seen_at  INTEGER NOT NULL
) STRICT;

-- Browsers that have signed in before: somebody else's guesses do not make them wait.
CREATE TABLE device (
    token    BLOB    NOT NULL CHECK (length(token) = 32),
    account  TEXT    NOT NULL REFERENCES account (name) ON DELETE CASCADE,
    seen_at  INTEGER NOT NULL,
    PRIMARY KEY (token, account)
) STRICT;

-- How much work a password is on this machine.
CREATE TABLE strength (
    only   INTEGER PRIMARY KEY CHECK (only = 1),
    memory INTEGER NOT NULL,
    passes INTEGER NOT NULL
) STRICT;
