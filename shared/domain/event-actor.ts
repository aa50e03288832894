import { z } from 'zod'

/** Actor of an event. `holder`: a person with a link. */
export const eventActor = z.strictObject({
  type: z.enum(['operator', 'siteFile', 'client', 'host', 'holder', 'system']),
  /** Host: name in the room. Operator: account, or kind of proof (`console key`, `desktop`). Client: its access_key. Site file: its path. */
  name: z.string(),
  /** Network address; empty: none. */
  address: z.string(),
})
export type EventActor = z.output<typeof eventActor>
