import { z } from 'zod'
import { durabilityRisks } from '../domain/durability.ts'
import { change, read } from './declare.ts'
import { moment, nothing } from '../domain/outcome.ts'
import { admin, viewer } from './procedure-access.ts'
import { subject } from './procedure-events.ts'

/** Addresses of a controller for other machines; empty if it does not listen. */
const controllerPlace = z.strictObject({
  media: z.string(),
  device: z.string(),
  node: z.string(),
  console: z.string(),
  event: z.string(),
})

/** A controller of the site, as known to the one that answers. */
const controllerView = z.strictObject({
  /** Stored in its data folder: survives a restart. */
  id: z.string(),
  /** Name of its machine, or its configured name. */
  name: z.string(),
  /** The controller that answers. */
  self: z.boolean(),
  role: z.enum(['leader', 'standby']),
  /** Version of Roomdesk. */
  version: z.string(),
  place: controllerPlace,
  /** It is on another machine and announces no certificate: the one that answers sends it nothing. */
  refused_plain: z.boolean(),
  /** A replica that the one that answers cannot reach: reads stop when the database is away. */
  unreachable: z.boolean(),
  /** Number of stored changes that are not yet in its memory. */
  behind: z.int(),
  /** Age of the oldest of these, in milliseconds; 0: none. */
  behind_for: z.number(),
  /** Time of its last announcement. */
  seen_at: moment,
  /** It has been silent for several seconds. */
  gone: z.boolean(),
  /** Time since when it has its role. */
  since: moment,
})
export type ControllerView = z.output<typeof controllerView>

/** Storage of the site's state. */
const siteMedium = z.strictObject({
  kind: z.enum(['disk', 'database']),
  /** Address without password; for files the data folder. */
  shown: z.string(),
  /** Time since when it is unreachable, or refuses changes; 0: available. */
  away_since: moment,
  /** Reason; empty: available. */
  error: z.string(),
  /** Settings of the database by which a confirmed change can be lost. */
  risks: z.array(z.enum(durabilityRisks)),
})
export type SiteMedium = z.output<typeof siteMedium>

/** The controllers of the site. Only the leader makes changes. */
export const controllersView = z.strictObject({
  /** The one that answers comes first. */
  items: z.array(controllerView),
  /** Time of this information from the database: older during an outage. */
  known_at: moment,
  /** Time since when nobody leads, as far as known here; 0: there is a leader. */
  leaderless_since: moment,
  /** Ports of the leader that the controller which answers cannot reach: it cannot pass calls on there. */
  leader_unreachable: z.array(z.enum(['media', 'device', 'node', 'console', 'event'])),
  /** How sure the controller that answers is that it leads; null: it does not lead. */
  lease: z
    .strictObject({
      /** Raised by each change of the leader, and each reconnection to the database. */
      epoch: z.number(),
      /** Milliseconds since the database last proved it. */
      proved_for: z.int(),
      /** Times that it was not sure, so that reads waited. */
      lapses: z.int(),
      /** Requests that had to wait. */
      waits: z.int(),
    })
    .nullable(),
  medium: siteMedium,
})
export type ControllersView = z.output<typeof controllersView>

export const controllerProcedures = {
  'controllers.list': read({
    summary: 'The controllers of the site: which one leads, how far the others are behind, and what holds the state.',
    input: nothing,
    output: controllersView,
    access: viewer('site:read'),
  }),
  'controllers.lead': change({
    summary: 'Make this controller the leader. No change is lost; it is answered when that controller leads.',
    input: z.strictObject({ id: z.string().min(1).max(100) }),
    output: z.strictObject({ name: z.string() }),
    access: admin('site:write'),
    passedOn: true,
    // The lead is taken in the database, not in the site's state.
    event: { outside: 'memory', subjects: () => [subject.site], facts: (_, { name }) => ({ controller: name }) },
  }),
}
