-- Names of sessions that were erased, so that nothing is begun under them again. Their rows have another name since;
-- nothing leads from here to them.
CREATE TABLE spent (session TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
