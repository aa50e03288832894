import { z } from 'zod'
import { moment } from './outcome.ts'

/** Maximum number of people in one list of the whole site. */
export const maxListedWaiting = 500

/** Person who waits before a room until a host or the operator admits them. */
const waitingGuest = z.strictObject({
  room_id: z.string(),
  topic: z.string(),
  user_id: z.string(),
  user_name: z.string(),
  since: moment,
})
export type WaitingGuest = z.output<typeof waitingGuest>

/** All people waiting at the site, in order of arrival; the first 500 of `total`. */
export const waitingView = z.strictObject({ items: z.array(waitingGuest), total: z.int() })
export type WaitingView = z.output<typeof waitingView>
