/**
 * Settings of the database due to which confirmed changes may be lost. fsync, fullPageWrites: if its machine loses
 * power; localCommit, asynchronous: in a failover to another server.
 */
export const durabilityRisks = ['fsync', 'fullPageWrites', 'localCommit', 'asynchronous'] as const
export type DurabilityRisk = (typeof durabilityRisks)[number]

/** Code of each setting in the attention list. */
export const durabilityCodes = {
  fsync: 'databaseFsyncOff',
  fullPageWrites: 'databaseFullPageWritesOff',
  localCommit: 'databaseLocalCommit',
  asynchronous: 'databaseAsynchronous',
} as const satisfies Record<DurabilityRisk, string>

/** Sentences for logs and the console's API: the risk and its remedy. */
export const durabilityMessages: Record<DurabilityRisk, string> = {
  fsync:
    'The database runs with fsync=off: when its machine loses power, everything can be lost. Set fsync=on and restart PostgreSQL.',
  fullPageWrites:
    'The database runs with full_page_writes=off: when its machine loses power in the middle of a write, tables can be damaged. Set full_page_writes=on and reload PostgreSQL.',
  localCommit:
    'The database confirms changes before its synchronous standbys have them (synchronous_commit=local): a failover can lose confirmed changes. Set synchronous_commit=on.',
  asynchronous:
    'The address of the database names several servers, and none is a synchronous standby: a failover can lose the last confirmed changes. Set synchronous_standby_names (docs/operate/high-availability.md).',
}

/**
 * Reasons why others on the network can read or change the traffic of a database: no encryption, or no verification of
 * the certificate.
 */
export type DatabaseRisk = 'plain' | 'unverified'

/** Sentences for logs and the console's API. */
export const databaseRiskMessages: Record<DatabaseRisk, string> = {
  plain:
    'The connection to the database on another machine is not encrypted: add ?sslmode=verify-full&sslrootcert=FILE to its address, FILE being the certificate of its authority.',
  unverified:
    'The certificate of the database is not verified, so that another machine can pose as it: use sslmode=verify-full&sslrootcert=FILE in its address.',
}
