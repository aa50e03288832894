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
