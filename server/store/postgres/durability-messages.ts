import type { DurabilityRisk } from '../../../shared/console/durability.ts'

/** Sentence for logs and the console's API: what can happen, and what mends it. */
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
