-- A behaviour database of schema 7, as the code of that schema filled it.
BEGIN TRANSACTION;
CREATE TABLE behaviour (
    program TEXT NOT NULL REFERENCES program(key) ON DELETE CASCADE,
    threads INTEGER NOT NULL,
    sample TEXT NOT NULL,
    tier TEXT NOT NULL,
    sampled_at REAL NOT NULL,
    hint TEXT,
    policy TEXT, by_number INTEGER NOT NULL DEFAULT 0, exchanged INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (program, threads)
) STRICT;
INSERT INTO "behaviour" VALUES('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',8,'{"llc_misses": 2500000.0, "dram_reads_remote": 125000.0}','hardware counters',1790000180.0,'SLP','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',0,0);
INSERT INTO "behaviour" VALUES('bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',4,'{"llc_misses": 2500000.0, "dram_reads_remote": 125000.0}','hardware counters',1790000540.0,'slp','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',1,1);
CREATE TABLE look (
    run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    start_ns INTEGER NOT NULL,
    end_ns INTEGER NOT NULL,
    place TEXT NOT NULL,
    counts TEXT NOT NULL,
    PRIMARY KEY (run, number)
) STRICT;
INSERT INTO "look" VALUES(1,0,1000,2000,'{4}','{"0":{"instructions":12.0},"1":{"instructions":11.0}}');
INSERT INTO "look" VALUES(2,0,1000,2000,'{4}','{"0":{"instructions":12.0},"1":{"instructions":11.0}}');
CREATE TABLE mask (
    run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
    tid INTEGER NOT NULL,
    start_ticks INTEGER NOT NULL,
    before TEXT NOT NULL,
    given TEXT NOT NULL,
    PRIMARY KEY (run, tid, start_ticks)
) STRICT;
INSERT INTO "mask" VALUES(1,4242,77,'0-15','0-3');
INSERT INTO "mask" VALUES(2,4242,77,'0-15','0-3');
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
INSERT INTO "meta" VALUES('rows_at_build','2');
CREATE TABLE observation (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
    program TEXT NOT NULL REFERENCES program(key) ON DELETE CASCADE,
    threads INTEGER NOT NULL,
    affinity TEXT NOT NULL,
    machine TEXT NOT NULL,
    sample TEXT NOT NULL,
    tier TEXT NOT NULL,
    taken_at REAL NOT NULL
) STRICT;
INSERT INTO "observation" VALUES(1,1,'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',8,'{4}{4}','opteron-6164he','{"llc_misses": 2500000.0, "dram_reads_remote": 125000.0}','hardware counters',1790000240.0);
INSERT INTO "observation" VALUES(2,2,'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',4,'{4}','opteron-6164he','{"llc_misses": 2500000.0, "dram_reads_remote": 125000.0}','hardware counters',1790000600.0);
CREATE TABLE program (
    key TEXT PRIMARY KEY,
    path TEXT NOT NULL,
    first_seen REAL NOT NULL
) STRICT;
INSERT INTO "program" VALUES('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','/opt/solver',1790000060.0);
INSERT INTO "program" VALUES('bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb','/opt/café',1790000420.0);
CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    program TEXT NOT NULL REFERENCES program(key) ON DELETE CASCADE,
    pid INTEGER NOT NULL,
    started REAL NOT NULL,
    ended REAL,
    tier TEXT NOT NULL,
    threads INTEGER,
    hint TEXT,
    bound INTEGER NOT NULL DEFAULT 0,
    notes TEXT NOT NULL DEFAULT '',
    totals TEXT NOT NULL DEFAULT '{}'
, host TEXT NOT NULL DEFAULT '', start_ticks INTEGER NOT NULL DEFAULT 0, monitor_pid INTEGER NOT NULL DEFAULT 0, monitor_ticks INTEGER NOT NULL DEFAULT 0, policy TEXT NOT NULL DEFAULT '', policy_path TEXT NOT NULL DEFAULT '', allowed TEXT NOT NULL DEFAULT '', phase TEXT NOT NULL DEFAULT '', cpus TEXT NOT NULL DEFAULT '', sample TEXT NOT NULL DEFAULT '{}', probe TEXT NOT NULL DEFAULT '{}', uuid TEXT NOT NULL DEFAULT '', machine TEXT NOT NULL DEFAULT '', site TEXT NOT NULL DEFAULT '', sent REAL) STRICT;
INSERT INTO "run" VALUES(1,'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',4242,1790000000.0,1790000300.0,'hardware counters',8,'SLP',8,'bound in 0.3 s
second look','{"cycles": 12}','node1',77,4243,78,'dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','/opt/policy.json','0-15','settled','0-7','{"llc_misses": 2500000.0, "dram_reads_remote": 125000.0}','{"llc_misses": 2500000.0, "dram_reads_remote": 125000.0}','000102030405060708090a0b0c0d0e0f','opteron-6164he','',NULL);
INSERT INTO "run" VALUES(2,'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',4242,1790000360.0,NULL,'hardware counters',4,'slp',4,'bound in 0.3 s
second look','{"cycles": 12}','node1',77,4243,78,'dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','/opt/policy.json','0-15','settled','0-7','{"llc_misses": 2500000.0, "dram_reads_remote": 125000.0}','{"llc_misses": 2500000.0, "dram_reads_remote": 125000.0}','101112131415161718191a1b1c1d1e1f','opteron-6164he','',NULL);
COMMIT;
PRAGMA user_version = 7;
