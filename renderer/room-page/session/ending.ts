/**
 * Why somebody is not in the room. The node's refusals by their names, its ways of taking out, and what only the page
 * can know: `left` (own wish), `lost` (no connection for too long), `unreachable` (no connection at all), `outdated` (another version).
 */
const endingReasons = [
  'left',
  'lost',
  'unreachable',
  'outdated',
  'kicked',
  'replaced',
  'closed',
  'ended',
  'unauthorised',
  'hostPasswordWrong',
  'roomFull',
  'locked',
  'turnedAway',
  'removed',
  'noRoom',
  'taken',
  'tooMany',
  'busy',
  'other',
] as const
type EndingReason = (typeof endingReasons)[number]

/** How it ended. */
export interface Ending {
  reason: EndingReason
  /** Message of the node, for `other`. */
  message: string
}

/** The ending for a reason that the node named. */
export function endingOf(reason: string, message: string): Ending {
  const known = endingReasons.find((each) => each === reason)
  return { reason: known ?? 'other', message }
}
