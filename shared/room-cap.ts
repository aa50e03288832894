/**
 * Functions for the limit of a room (specification: `attendee_max`). It counts users and devices on all nodes of the
 * room. No other code compares with it.
 */

/** Whether a room is full. @param users number of users on all its nodes, without the user who is joining */
export function isFull(users: number, { attendeeMax }: { attendeeMax: number }): boolean {
  return users >= attendeeMax
}

/** Whether a room exceeds its limit after the last join. @param users number of users on all its nodes */
export function isOverfull(users: number, { attendeeMax }: { attendeeMax: number }): boolean {
  return users > attendeeMax
}
