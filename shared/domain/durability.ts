/**
 * Settings of the database by which a confirmed change can be lost. fsync, fullPageWrites: when its machine loses power; localCommit, asynchronous: in a failover to another server.
 */
export const durabilityRisks = ['fsync', 'fullPageWrites', 'localCommit', 'asynchronous'] as const
export type DurabilityRisk = (typeof durabilityRisks)[number]

/** Code of each in the list of things that need the operator's attention. */
export const durabilityCodes = {
  fsync: 'databaseFsyncOff',
  fullPageWrites: 'databaseFullPageWritesOff',
  localCommit: 'databaseLocalCommit',
  asynchronous: 'databaseAsynchronous',
} as const satisfies Record<DurabilityRisk, string>
