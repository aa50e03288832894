import { z } from 'zod'

/** Actor of an event. `holder`: a person who used a link. */
export const eventActor = z.strictObject({
  type: z.enum(['operator', 'siteFile', 'client', 'host', 'holder', 'system']),
  /**
   * Name of the actor. Host: name in the room. Operator: account, or kind of proof (`console key`, `desktop`). Client:
   * access_key. Site file: path.
   */
  name: z.string(),
  /** Network address; empty: none. */
  address: z.string(),
})
export type EventActor = z.output<typeof eventActor>
