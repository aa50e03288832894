import { z } from 'zod'
import { durabilityRisks } from '../domain/database-risks.ts'
import { change, read } from './declare.ts'
import { moment, emptyOutcome } from '../domain/outcome.ts'
import { admin, viewer } from './procedure-access.ts'
import { subject } from './procedure-events.ts'

/** Addresses of a controller for other machines; empty: the port is closed. */
const controllerPlace = z.strictObject({
  media: z.string(),
  device: z.string(),
  node: z.string(),
  console: z.string(),
  event: z.string(),
})

/** Controller of the site, as known to the responding controller. */
const controllerView = z.strictObject({
  /** Id, stored in the controller's data folder, so it survives a restart. */
  id: z.string(),
  /** Name of the controller's machine, or the configured name of the controller. */
  name: z.string(),
  /** Whether this is the responding controller. */
  self: z.boolean(),
  role: z.enum(['leader', 'standby']),
  version: z.string(),
  place: controllerPlace,
  /**
   * Whether the responding controller refuses to send data to this controller, because it is on another machine and
   * announces no certificate.
   */
  refused_plain: z.boolean(),
  /** Whether the responding controller cannot reach this replica. If the database is also unreachable, reads stop. */
  unreachable: z.boolean(),
  /** Number of stored changes that it has not yet applied to its memory. */
  behind: z.int(),
  /** Age of the oldest of these changes, in milliseconds; 0: none. */
  behind_for: z.number(),
  /** Time of the controller's last announcement. */
  seen_at: moment,
  /** Whether the controller has announced nothing for several seconds. */
  gone: z.boolean(),
  /** Time at which it entered its current role. */
  since: moment,
})
export type ControllerView = z.output<typeof controllerView>

/** Storage of the site's state. */
const siteMedium = z.strictObject({
  kind: z.enum(['disk', 'database']),
  /** Address of the database without password, or path of the data folder. */
  shown: z.string(),
  /** Time at which the storage became unreachable or began to reject changes; 0: available. */
  away_since: moment,
  /** Reason for the outage; empty: available. */
  error: z.string(),
  /** Settings of the database due to which confirmed changes may be lost. */
  risks: z.array(z.enum(durabilityRisks)),
})
export type SiteMedium = z.output<typeof siteMedium>

/** The controllers of the site. Only the leader makes changes. */
export const controllersView = z.strictObject({
  /** The responding controller comes first. */
  items: z.array(controllerView),
  /** Time at which this information was read from the database; older during an outage. */
  known_at: moment,
  /** Time at which the site lost its leader, as known to the responding controller; 0: there is a leader. */
  leaderless_since: moment,
  /** Ports of the leader that the responding controller cannot reach, so it cannot forward calls to them. */
  leader_unreachable: z.array(z.enum(['media', 'device', 'node', 'console', 'event'])),
  /** State of the responding controller's leadership; null: it is not the leader. */
  lease: z
    .strictObject({
      /** Number that increases with each change of the leader, and with each reconnection to the database. */
      epoch: z.number(),
      /** Milliseconds since the database last confirmed the leadership. */
      proved_for: z.int(),
      /** Number of times that the confirmation expired, so that reads had to wait. */
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
    refreshOn: ['controllers.changed'],
  }),
  'controllers.lead': change({
    summary: 'Make this controller the leader. No change is lost; it is answered when that controller leads.',
    input: z.strictObject({ id: z.string().min(1).max(100) }),
    output: z.strictObject({ name: z.string() }),
    access: admin('site:write'),
    passedOn: true,
    // The database records the change of the leader, not the site's state.
    event: { outside: 'memory', subjects: () => [subject.site], facts: (_, { name }) => ({ controller: name }) },
  }),
}
