/**
 * The cap of a room (specification: `attendee_max`). It counts everybody, people and devices, on every node that the room is on; these are the only places that compare.
 */

/** Whether nobody more fits into a room. @param users of the room on all its nodes, without whoever wants to come */
export function isFull(users: number, { attendeeMax }: { attendeeMax: number }): boolean {
  return users >= attendeeMax
}

/** Whether more are in a room than fit, now that the last one came. @param users of the room on all its nodes */
export function isOverfull(users: number, { attendeeMax }: { attendeeMax: number }): boolean {
  return users > attendeeMax
}
