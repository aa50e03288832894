import { z } from 'zod'
import { moment } from './outcome.ts'

/** Maximum number of waiting people in one list of the whole site. */
export const maxListedWaiting = 500

/** Person who waits for a room until a host or the operator admits them. */
const waitingGuest = z.strictObject({
  room_id: z.string(),
  topic: z.string(),
  user_id: z.string(),
  user_name: z.string(),
  since: moment,
})
export type WaitingGuest = z.output<typeof waitingGuest>

/** People waiting for rooms of the site, in order of arrival. `items`: the first 500; `total`: number of all. */
export const waitingView = z.strictObject({ items: z.array(waitingGuest), total: z.int() })
export type WaitingView = z.output<typeof waitingView>
