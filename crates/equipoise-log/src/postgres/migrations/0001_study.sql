-- A study in a database: its log, and beside it who may look at it, who people are, and how often somebody tried.
CREATE TABLE format (version BIGINT NOT NULL);

-- Whose rows there are. The text of a session's rows is sealed with its secret. An erasure takes name and secret from here,
-- and nothing else has to be touched. A session that was erased has a second line under its new name, for what says so.
CREATE TABLE log_session (
    id     BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name   TEXT NOT NULL,
    secret BYTEA CHECK (length(secret) = 32)
);
CREATE INDEX log_session_name ON log_session (name);

-- One row per event. Key, time, salt and text are in `sealed`; `mark` is a hash of the secret and the key, so that a key is
-- found and counts once.
CREATE TABLE event (
    position   BIGINT PRIMARY KEY,
    session    BIGINT NOT NULL,
    seq        BIGINT NOT NULL,
    mark       BYTEA CHECK (length(mark) = 32),
    commitment BYTEA NOT NULL CHECK (length(commitment) = 32),
    previous   BYTEA NOT NULL CHECK (length(previous) = 32),
    hash       BYTEA NOT NULL CHECK (length(hash) = 32),
    sealed     BYTEA,
    UNIQUE (session, seq),
    UNIQUE (session, mark)
);

-- Who takes part, in order, without reading every row.
CREATE INDEX first_event ON event (position, session) WHERE seq = 1;

-- Names of sessions that were erased, so that nothing is begun under them again.
CREATE TABLE spent (session TEXT PRIMARY KEY);

-- Who may look at the study: as in accounts.sqlite.
CREATE TABLE account (
    name    TEXT PRIMARY KEY,
    role    TEXT   NOT NULL CHECK (role IN ('owner', 'analyst', 'viewer')),
    memory  BIGINT NOT NULL,
    passes  BIGINT NOT NULL,
    salt    BYTEA  NOT NULL CHECK (length(salt) = 16),
    hash    BYTEA  NOT NULL CHECK (length(hash) = 32),
    made_at BIGINT NOT NULL
);
CREATE TABLE session (
    token    BYTEA PRIMARY KEY CHECK (length(token) = 32),
    account  TEXT   NOT NULL REFERENCES account (name) ON DELETE CASCADE,
    begun_at BIGINT NOT NULL,
    seen_at  BIGINT NOT NULL
);
CREATE TABLE device (
    token    BYTEA  NOT NULL CHECK (length(token) = 32),
    account  TEXT   NOT NULL REFERENCES account (name) ON DELETE CASCADE,
    seen_at  BIGINT NOT NULL,
    PRIMARY KEY (token, account)
);
CREATE TABLE strength (
    "only" BIGINT PRIMARY KEY CHECK ("only" = 1),
    memory BIGINT NOT NULL,
    passes BIGINT NOT NULL
);
CREATE TABLE token (
    name       TEXT PRIMARY KEY,
    account    TEXT   NOT NULL REFERENCES account (name) ON DELETE CASCADE,
    hash       BYTEA  NOT NULL UNIQUE CHECK (length(hash) = 32),
    scopes     TEXT   NOT NULL,
    made_at    BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at    BIGINT
);
CREATE TABLE code (
    hash    BYTEA PRIMARY KEY CHECK (length(hash) = 32),
    account TEXT   NOT NULL REFERENCES account (name) ON DELETE CASCADE,
    until   BIGINT NOT NULL
);

-- Who people are: as in contacts.sqlite, with the key of contacts.key in a table of its own.
CREATE TABLE contact (
    session TEXT PRIMARY KEY,
    nonce   BYTEA NOT NULL CHECK (length(nonce) = 24),
    sealed  BYTEA NOT NULL
);
CREATE TABLE contact_key (
    "only" BIGINT PRIMARY KEY CHECK ("only" = 1),
    key  BYTEA NOT NULL CHECK (length(key) = 32)
);

-- How many tries to sign in are left, in millionths: of an account, by the hash of its name, and of all. What a crash of the
-- database forgets is forgiven; nothing of this is in its write-ahead log.
CREATE UNLOGGED TABLE tries (
    who       BYTEA PRIMARY KEY,
    left_over BIGINT NOT NULL,
    at        BIGINT NOT NULL
);

-- Forms of researchers that must not be sent twice, and were sent.
CREATE TABLE form (
    key BYTEA PRIMARY KEY,
    at  BIGINT NOT NULL
);
