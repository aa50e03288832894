import { z } from 'zod'
import { durabilityRisks } from '../domain/durability.ts'
import { change, read } from './declare.ts'
import { moment, emptyOutcome } from '../domain/outcome.ts'
import { admin, viewer } from './procedure-access.ts'
import { subject } from './procedure-events.ts'

/** Addresses of a controller for other machines; empty for closed ports. */
const controllerPlace = z.strictObject({
  media: z.string(),
  device: z.string(),
  node: z.string(),
  console: z.string(),
  event: z.string(),
})

/** Controller of the site, as seen by the responding controller. */
const controllerView = z.strictObject({
  /** Stored in its data folder, so it survives a restart. */
  id: z.string(),
  /** Name of its machine, or its configured name. */
  name: z.string(),
  /** Whether it is the responding controller. */
  self: z.boolean(),
  role: z.enum(['leader', 'standby']),
  version: z.string(),
  place: controllerPlace,
  /** It is on another machine and announces no certificate, so the responding controller sends it nothing. */
  refused_plain: z.boolean(),
  /** A replica that the responding controller cannot reach: reads stop when the database is unreachable. */
  unreachable: z.boolean(),
  /** Number of stored changes not applied to its memory yet. */
  behind: z.int(),
  /** Age of the oldest of these changes, in milliseconds; 0: none. */
  behind_for: z.number(),
  /** Time of its last announcement. */
  seen_at: moment,
  /** Whether it has been silent for several seconds. */
  gone: z.boolean(),
  /** Time since which it has its role. */
  since: moment,
})
export type ControllerView = z.output<typeof controllerView>

/** Storage of the site's state. */
const siteMedium = z.strictObject({
  kind: z.enum(['disk', 'database']),
  /** Address without password; for files, the data folder. */
  shown: z.string(),
  /** Time since which it is unreachable, or refuses changes; 0: available. */
  away_since: moment,
  /** Reason; empty: available. */
  error: z.string(),
  /** Settings of the database that may cause confirmed changes to be lost. */
  risks: z.array(z.enum(durabilityRisks)),
})
export type SiteMedium = z.output<typeof siteMedium>

/** The controllers of the site. Only the leader makes changes. */
export const controllersView = z.strictObject({
  /** The responding controller comes first. */
  items: z.array(controllerView),
  /** Time at which this information was read from the database; older during an outage. */
  known_at: moment,
  /** Time since which there is no leader, as far as known here; 0: there is a leader. */
  leaderless_since: moment,
  /**
   * Ports of the leader that the responding controller cannot reach, and to which it therefore cannot forward calls.
   */
  leader_unreachable: z.array(z.enum(['media', 'device', 'node', 'console', 'event'])),
  /** Confirmation of the responding controller's leadership; null: it is not the leader. */
  lease: z
    .strictObject({
      /** Increases with each change of the leader, and each reconnection to the database. */
      epoch: z.number(),
      /** Milliseconds since the database last confirmed the leadership. */
      proved_for: z.int(),
      /** Number of times that the leadership was unconfirmed, so that reads had to wait. */
      lapses: z.int(),
      /** Number of requests that had to wait. */
      waits: z.int(),
    })
    .nullable(),
  medium: siteMedium,
})
export type ControllersView = z.output<typeof controllersView>

export const controllerProcedures = {
  'controllers.list': read({
    summary: 'The controllers of the site: which one leads, how far the others are behind, and what holds the state.',
    input: emptyOutcome,
    output: controllersView,
    access: viewer('site:read'),
  }),
  'controllers.lead': change({
    summary: 'Make this controller the leader. No change is lost; it is answered when that controller leads.',
    input: z.strictObject({ id: z.string().min(1).max(100) }),
    output: z.strictObject({ name: z.string() }),
    access: admin('site:write'),
    passedOn: true,
    // The leadership is taken over in the database, not in the site's state.
    event: { outside: 'memory', subjects: () => [subject.site], facts: (_, { name }) => ({ controller: name }) },
  }),
}
