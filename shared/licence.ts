import { z } from 'zod'

/** Licence of a site. In numbers, 0 means no limit; an empty `expires_at` means no expiry. */
export const licenceSchema = z.strictObject({
  /** Expiry as an ISO 8601 date or date-time; a date includes the whole day (UTC). */
  expires_at: z.union([z.iso.date(), z.iso.datetime({ offset: true }), z.literal('')]).default(''),
  max_rooms: z.int().min(0).max(1_000_000).default(0),
  /** Maximum number of people and devices in rooms, on all nodes together. */
  max_users: z.int().min(0).max(10_000_000).default(0),
})
export type Licence = z.output<typeof licenceSchema>

/** Returns the end of the licence, in milliseconds since the epoch; Infinity: never. */
export function licenceEnd(licence: Licence): number {
  const text = licence.expires_at
  if (text === '') return Number.POSITIVE_INFINITY
  return text.includes('T') ? Date.parse(text) : Date.parse(`${text}T23:59:59.999Z`)
}
