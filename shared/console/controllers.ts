import { z } from 'zod'
import { moment, nothing, procedure } from './procedure.ts'

/** Addresses at which other machines reach a controller; empty where it does not listen. */
const controllerPlace = z.strictObject({
  media: z.string(),
  device: z.string(),
  node: z.string(),
  console: z.string(),
  event: z.string(),
})

/** A controller of the site, as the one that answers knows it. */
const controllerView = z.strictObject({
  /** Kept in its data folder: the same after a restart. */
  id: z.string(),
  /** Name of its machine, or as it was told to be called. */
  name: z.string(),
  /** The one that answers. */
  self: z.boolean(),
  role: z.enum(['leader', 'standby']),
  /** Version of Roomdesk. */
  version: z.string(),
  place: controllerPlace,
  /** It is on another machine and announces no certificate: the one that answers sends it nothing. */
  refused_plain: z.boolean(),
  /** Changes that are stored and not in its memory yet. */
  behind: z.int(),
  /** How long the oldest of these has been stored, in milliseconds; 0: none is missing. */
  behind_for: z.number(),
  /** When it was last heard of. */
  seen_at: moment,
  /** It has not been heard of for several seconds. */
  gone: z.boolean(),
  /** Since when it has its role. */
  since: moment,
})
export type ControllerView = z.output<typeof controllerView>

/** Database that holds the state of the site. */
const siteMedium = z.strictObject({
  kind: z.enum(['disk', 'database']),
  /** Address without password; of a disk the data folder. */
  shown: z.string(),
  /** Since when it cannot be reached, or refuses changes; 0: it does neither. */
  away_since: moment,
  /** Why; empty: it does neither. */
  error: z.string(),
})
export type SiteMedium = z.output<typeof siteMedium>

/** The controllers of the site. Only the one that leads changes anything. */
export const controllersView = z.strictObject({
  /** The one that answers first. */
  items: z.array(controllerView),
  /** When the database told so: a while ago where it cannot be reached. */
  known_at: moment,
  /** Since when nobody leads, as far as is known here; 0: somebody does. */
  leaderless_since: moment,
  medium: siteMedium,
})
export type ControllersView = z.output<typeof controllersView>

export const controllerProcedures = {
  'controllers.list': procedure(
    'The controllers of the site: which one leads, how far the others are behind, and what holds the state.',
    nothing,
    controllersView,
  ),
  'controllers.lead': procedure(
    'Make this controller the leader. No change is lost; it is answered when that controller leads.',
    z.strictObject({ id: z.string().min(1).max(100) }),
    z.strictObject({ name: z.string() }),
  ),
}
