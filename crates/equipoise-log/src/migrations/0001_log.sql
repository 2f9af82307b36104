-- One row per event. Duplicates are impossible rather than unlikely.
CREATE TABLE event (
    position   INTEGER PRIMARY KEY,
    session    TEXT    NOT NULL,
    seq        INTEGER NOT NULL,
    key        TEXT    NOT NULL,
    at         INTEGER NOT NULL,
    commitment BLOB    NOT NULL CHECK (length(commitment) = 32),
    previous   BLOB    NOT NULL CHECK (length(previous) = 32),
    hash       BLOB    NOT NULL CHECK (length(hash) = 32),
    UNIQUE (session, seq),
    UNIQUE (session, key)
) STRICT;

-- Who takes part, in order, without reading every row.
CREATE INDEX first_event ON event (position, session) WHERE seq = 1;

-- What can be erased without breaking the chain.
CREATE TABLE payload (
    position INTEGER PRIMARY KEY REFERENCES event (position),
    salt     BLOB NOT NULL CHECK (length(salt) = 32),
    body     TEXT NOT NULL
) STRICT;
