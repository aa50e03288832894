import type { RemoteMedia } from './remote-media.ts'
import type { SendingReading } from './sending-reading.ts'

/** Problems of the connection or a device, the most urgent first. */
export const troubles = [
  'micStopped',
  'micSilent',
  'cameraStopped',
  'sendingLossy',
  'sendingSlow',
  'receivingSlow',
  'delayed',
  'person',
] as const
export type Trouble = (typeof troubles)[number]

/** Limits above which users notice. */
const maxLoss = 0.08
const maxRoundTripMs = 600

/**
 * Returns the problems visible in two readings of what this browser sends. @param on whether microphone and camera are
 * on
 */
export function signsOfSending(
  before: SendingReading,
  after: SendingReading,
  on: { microphone: boolean; camera: boolean },
): Set<Trouble> {
  const signs = new Set<Trouble>()
  if (on.microphone && after.soundPackets !== undefined) {
    // A working microphone always picks up some noise.
    if (after.soundEnergy === 0) signs.add('micSilent')
    else if (after.soundPackets === before.soundPackets) signs.add('micStopped')
    if (after.loss > maxLoss) signs.add('sendingLossy')
  }
  if (on.camera && after.cameraFrames !== undefined) {
    if (after.cameraFrames === before.cameraFrames) signs.add('cameraStopped')
    else if (after.isLimited && sentHeight(before, after) * 2 <= after.cameraHeight) signs.add('sendingSlow')
  }
  if ((after.roundTripMs ?? 0) > maxRoundTripMs) signs.add('delayed')
  return signs
}

/** Returns the height of the largest layer of which pictures were sent. */
function sentHeight(before: SendingReading, after: SendingReading): number {
  const heights = [...after.sentFrames].filter(([height, frames]) => frames > (before.sentFrames.get(height) ?? 0))
  return Math.max(0, ...heights.map(([height]) => height))
}

/**
 * Returns the problems visible in the quality of received streams. If several streams are poor, the own link is the
 * reason; otherwise the sender's.
 * @returns `userIds`: users whose own connection is poor
 */
export function signsOfReceiving(media: Iterable<RemoteMedia>): { signs: Set<Trouble>; userIds: string[] } {
  const seen = [...media].filter((each) => each.seen && each.state === 'connected' && each.quality !== 'unknown')
  const poor = seen.filter(({ quality, sent }) => quality === 'poor' || sent === 'key_frames')
  const none = { signs: new Set<Trouble>(), userIds: [] }
  if (poor.length === 0) return none
  const isOwn = poor.some(({ sent }) => sent === 'key_frames') || poor.length * 2 > seen.length
  if (isOwn) return { signs: new Set(['receivingSlow']), userIds: [] }
  return { signs: new Set(['person']), userIds: [...new Set(poor.map(({ userId }) => userId))] }
}
