/** What a run has besides rooms and faults; each can be switched on and off by itself. */
export const extraNames = [
  // Something reads the status of every controller once a second.
  'status readers',
  // The leader is killed while the database is slow.
  'slow take-over',
  // The database answers in a quarter of a second: the lead stays, and can be handed over.
  'slow statements',
  // A change that the database has lost is reported by the controllers that had it in memory.
  'reported losses',
  // Clients order recordings and live streams: what is recorded follows what is stored.
  'recordings',
  // Two controllers never record one stream for longer than a lease.
  'one recorder',
  // Pages of live streams show nothing older than what was answered before.
  'pages',
  // A refusal that says that nothing was changed is true.
  'true refusals',
  // Rooms open and close by their schedules, each time with one event.
  'schedules',
] as const
export type Extra = (typeof extraNames)[number]

/** Extras of every run, unless it names its own: all whose promise holds. */
export const usualExtras: readonly Extra[] = extraNames
