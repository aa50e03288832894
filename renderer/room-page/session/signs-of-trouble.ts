import type { RemoteMedia } from './remote-media.ts'
import type { SendingReading } from './sending-reading.ts'

/** Trouble of the connection or a device, the most urgent first. */
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

/** Limits above which people notice. */
const maxLoss = 0.08
const maxRoundTripMs = 600

/** Signs in two readings of what this browser sends. @param on whether microphone and camera are on */
export function signsOfSending(
  before: SendingReading,
  after: SendingReading,
  on: { microphone: boolean; camera: boolean },
): Set<Trouble> {
  const signs = new Set<Trouble>()
  if (on.microphone && after.soundPackets !== undefined) {
    // Noise of a working microphone is never nothing at all.
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

/** Height of the largest layer of which pictures were sent. */
function sentHeight(before: SendingReading, after: SendingReading): number {
  const heights = [...after.sentFrames].filter(([height, frames]) => frames > (before.sentFrames.get(height) ?? 0))
  return Math.max(0, ...heights.map(([height]) => height))
}

/**
 * Signs in the quality of received streams: if several are poor, the own link is the reason, else the sender's.
 * @returns ids of the users whose connection is poor, if it is theirs
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
