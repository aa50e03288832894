/** File of the index in its folder. */
export const indexFile = 'index.sqlite'
/** Suffixes of the files that SQLite keeps: the index itself, its write-ahead log, and the shared memory of that log. */
export const companions = ['', '-wal', '-shm'] as const
